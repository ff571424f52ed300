(** Certificates: the words of one tile, with numbers, read the whole tile. Coq decides the conditions by evaluating a
    function that returns true or false.

    Python: [descriptors derive ... --certificate FILE] writes a file that uses these theorems. *)

From Coq Require Import ZArith Lia Bool List.
From LayoutAlg Require Import Bits ReadModel Canonical Layouts.
Import ListNotations.
Open Scope Z_scope.

(** A tile: a swizzle [S<B,M,S>] on elements ([S<0,0,0>] for none), an offset, and the modes MN, K and stages. *)
Record tile := Tile { swizzle_bits : Z; swizzle_base : Z; swizzle_shift : Z; shift : Z;
                      rows : layout; columns : layout; stages : layout }.

Definition plain_offset T i j s := shift T + value (stages T) s + (value (rows T) i + value (columns T) j).
Definition element_offset T i j s :=
  swizzle (swizzle_bits T) (swizzle_base T) (swizzle_shift T) (plain_offset T i j s).

(** The address in bits of an element with offset x in a tile at address base. *)
Definition address e base x := 8 * base + place e x.

(** For types without containers it is the base plus the bytes of the offset. *)
Lemma address_packed : forall e base x, well_formed e -> step e = 2 ^ storage e ->
  address e base x = 8 * base + 2 ^ storage e * x.
Proof.
  intros e base x He Hs. destruct (unit_size e He) as (_ & P2 & P3). unfold address, place. rewrite Hs, <- P3.
  rewrite (Z.div_mod x (per16 e)) at 3 by lia. ring.
Qed.

(** The descriptors of a tile of mn x k x s operands: a list with the stage fastest, then K. *)
Definition word_at (words : list Z) k_count s_count mn k s := nth (Z.to_nat ((mn * k_count + k) * s_count + s)) words 0.

Fixpoint all_below (n : nat) (p : Z -> bool) : bool :=
  match n with O => true | S n => p (Z.of_nat n) && all_below n p end.
Definition for_all n p := all_below (Z.to_nat n) p.

Lemma for_all_spec : forall n p, for_all n p = true -> forall i, 0 <= i < n -> p i = true.
Proof.
  intros n p. unfold for_all.
  assert (H : forall m, all_below m p = true -> forall i, 0 <= i < Z.of_nat m -> p i = true).
  { induction m as [|m IH]; intros H i Hi; [lia|]. cbn in H. apply andb_true_iff in H. destruct H as [H1 H2].
    destruct (Z.eq_dec i (Z.of_nat m)) as [-> | N]; [assumption|]. apply IH; [assumption|lia]. }
  intros E i Hi. apply (H _ E). lia.
Qed.

(** ** By canonical form: the check looks at each row and at each column of each operand. *)

Definition pattern_check f p :=
  if swizzled (mode f) then (p mod 128 =? 0) && ((base_offset f - p / 128) mod 2 ^ bits (mode f) =? 0)
  else p mod 16 =? 0.

Definition swizzle_check e m T :=
  if swizzled m
  then (swizzle_bits T =? bits m) && (swizzle_base T =? position m + 3 - storage e) && (swizzle_shift T =? 7 - position m)
  else swizzle_bits T =? 0.

Definition word_check a e mj T base R C w i0 j0 s : bool :=
  match decode a w with
  | None => false
  | Some f =>
      let f_inner x := match mj with K => value (columns T) (j0 + x) | MN => value (rows T) (i0 + x) end in
      let f_outer x := match mj with K => value (rows T) (i0 + x) | MN => value (columns T) (j0 + x) end in
      let unit := 2 ^ storage e in
      pattern_check f base && swizzle_check e (mode f) T
      && (8 * (start f - base) =? unit * plain_offset T i0 j0 s)
      && for_all (outer mj R C) (fun r => unit * (f_outer r - f_outer 0) =? 8 * across f mj r)
      && for_all (inner mj R C) (fun c =>
           (unit * (f_inner c - f_inner 0) =? 8 * along f mj (c / per16 e) + unit * (c mod per16 e))
           && (negb (absolute f) || absolute_allowed f mj (c / per16 e)))
  end.

Lemma word_check_spec : forall a e mj T base R C w i0 j0 s, well_formed e ->
  word_check a e mj T base R C w i0 j0 s = true -> forall i k, 0 <= i < R -> 0 <= k < C ->
  read a w e mj i k = Some (address e base (element_offset T (i0 + i) (j0 + k) s)).
Proof.
  intros a e mj T base R C w i0 j0 s He H i k Hi Hk. unfold word_check in H.
  destruct (decode a w) as [f|] eqn:Hd; [|discriminate]. cbv zeta in H.
  apply andb_true_iff in H. destruct H as [H Hinner]. apply andb_true_iff in H. destruct H as [H Houter].
  apply andb_true_iff in H. destruct H as [H Hstart]. apply andb_true_iff in H. destruct H as [Hpattern Hswizzle].
  apply Z.eqb_eq in Hstart.
  assert (Hp : pattern_at f base).
  { unfold pattern_check in Hpattern. unfold pattern_at. destruct (swizzled (mode f)); [|apply Z.eqb_eq; assumption].
    apply andb_true_iff in Hpattern. destruct Hpattern. split; apply Z.eqb_eq; assumption. }
  assert (Hs : forall x, stored e (mode f) base x
      = address e base (swizzle (swizzle_bits T) (swizzle_base T) (swizzle_shift T) x)).
  { intros x. unfold stored, address, swizzle_elements. f_equal. f_equal. unfold swizzle_check, swizzled in Hswizzle.
    destruct (Z.eqb_spec (bits (mode f)) 0) as [E | E]; cbn [negb] in Hswizzle.
    - apply Z.eqb_eq in Hswizzle. rewrite Hswizzle, E, !swizzle_none. reflexivity.
    - apply andb_true_iff in Hswizzle. destruct Hswizzle as [Hswizzle H3]. apply andb_true_iff in Hswizzle.
      destruct Hswizzle as [H1 H2]. apply Z.eqb_eq in H1, H2, H3. rewrite H1, H2, H3. reflexivity. }
  assert (Ho : 0 <= outer mj i k < outer mj R C) by (destruct mj; assumption).
  assert (Hn : 0 <= inner mj i k < inner mj R C) by (destruct mj; assumption).
  assert (Hr := for_all_spec _ _ Houter _ Ho). assert (Hc := for_all_spec _ _ Hinner _ Hn). cbv beta in Hr, Hc.
  apply Z.eqb_eq in Hr. apply andb_true_iff in Hc. destruct Hc as [Hc Hab]. apply Z.eqb_eq in Hc.
  unfold element_offset. rewrite <- Hs.
  assert (split : exists x y, plain_offset T (i0 + i) (j0 + k) s = plain_offset T i0 j0 s + (x + y) /\
    row_matches e f mj (outer mj i k) x /\ unit_matches e f mj (inner mj i k) y).
  { unfold plain_offset, row_matches, unit_matches. rewrite !Z.add_0_r in *.
    assert (allowed : absolute f = true -> absolute_allowed f mj (inner mj i k / per16 e) = true)
      by (intros E; rewrite E in Hab; exact Hab).
    destruct mj; cbn [inner outer] in *.
    - exists (value (rows T) (i0 + i) - value (rows T) i0), (value (columns T) (j0 + k) - value (columns T) j0).
      repeat split; try assumption; ring.
    - exists (value (columns T) (j0 + k) - value (columns T) j0), (value (rows T) (i0 + i) - value (rows T) i0).
      repeat split; try assumption; ring. }
  destruct split as (x & y & -> & Hx & Hy). apply word_reads_operand; assumption.
Qed.

Definition check a e mj T base R C mn_count k_count s_count words : bool :=
  (0 <=? storage e) && (storage e <=? 7) &&
  for_all mn_count (fun mn => for_all k_count (fun k => for_all s_count (fun s =>
    word_check a e mj T base R C (word_at words k_count s_count mn k s) (mn * R) (k * C) s))).

(** Each word of the list reads its operand of R x C elements, for all operands and stages of the tile. *)
Theorem certified : forall a e mj T base R C mn_count k_count s_count words,
  check a e mj T base R C mn_count k_count s_count words = true ->
  forall mn k s, 0 <= mn < mn_count -> 0 <= k < k_count -> 0 <= s < s_count ->
  forall i j, 0 <= i < R -> 0 <= j < C ->
  read a (word_at words k_count s_count mn k s) e mj i j
  = Some (address e base (element_offset T (mn * R + i) (k * C + j) s)).
Proof.
  intros a e mj T base R C mn_count k_count s_count words H mn k s Hmn Hk Hs i j Hi Hj. unfold check in H.
  apply andb_true_iff in H. destruct H as [He H]. apply andb_true_iff in He. destruct He as [He1 He2].
  apply Z.leb_le in He1, He2.
  apply (for_all_spec _ _) with (i := mn) in H; [|assumption]. cbv beta in H.
  apply (for_all_spec _ _) with (i := k) in H; [|assumption]. cbv beta in H.
  apply (for_all_spec _ _) with (i := s) in H; [|assumption]. cbv beta in H.
  apply (word_check_spec a e mj T base R C); try assumption. unfold well_formed. lia.
Qed.

(** ** By enumeration: the check evaluates the read model and the layout at each element. It is for layouts whose swizzle
    is not that of the word, so that their rows and columns do not show the addresses. *)

Definition enumerate a e mj T base R C mn_count k_count s_count words : bool :=
  for_all mn_count (fun mn => for_all k_count (fun k => for_all s_count (fun s =>
    for_all R (fun i => for_all C (fun j =>
      match read a (word_at words k_count s_count mn k s) e mj i j with
      | Some x => x =? address e base (element_offset T (mn * R + i) (k * C + j) s)
      | None => false
      end))))).

(** The same statement as [certified]. *)
Theorem enumerated : forall a e mj T base R C mn_count k_count s_count words,
  enumerate a e mj T base R C mn_count k_count s_count words = true ->
  forall mn k s, 0 <= mn < mn_count -> 0 <= k < k_count -> 0 <= s < s_count ->
  forall i j, 0 <= i < R -> 0 <= j < C ->
  read a (word_at words k_count s_count mn k s) e mj i j
  = Some (address e base (element_offset T (mn * R + i) (k * C + j) s)).
Proof.
  intros a e mj T base R C mn_count k_count s_count words H mn k s Hmn Hk Hs i j Hi Hj. unfold enumerate in H.
  apply (for_all_spec _ _) with (i := mn) in H; [|assumption]. cbv beta in H.
  apply (for_all_spec _ _) with (i := k) in H; [|assumption]. cbv beta in H.
  apply (for_all_spec _ _) with (i := s) in H; [|assumption]. cbv beta in H.
  apply (for_all_spec _ _) with (i := i) in H; [|assumption]. cbv beta in H.
  apply (for_all_spec _ _) with (i := j) in H; [|assumption]. cbv beta in H.
  destruct (read _ _ _ _ _ _) as [x|]; [|discriminate]. apply Z.eqb_eq in H. rewrite H. reflexivity.
Qed.
