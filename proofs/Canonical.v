(** The theorem about one operand: if the offsets of its elements are those of a canonical form, then the descriptor
    with this LBO and SBO reads each element from where the layout stores it.

    Python: the canonical forms are in [descriptors/smem/operands/forms.py]; [stored_rows] in
    [descriptors/smem/proof/addresses.py] is the function [stored] here. *)

From Coq Require Import ZArith Lia Bool.
From LayoutAlg Require Import Bits ReadModel.
Open Scope Z_scope.

(** The distance, in bits, of the element with offset x from the element with offset 0. *)
Definition place e x := x / per16 e * 128 + x mod per16 e * step e.

(** The swizzle of a mode on offsets in elements: [S<3,3,3>] for 128B and 16 bits. *)
Definition swizzle_elements e m x := swizzle (bits m) (position m + 3 - storage e) (7 - position m) x.

(** Where a layout with the swizzle of mode m stores the element with plain offset x, in bits, if the pattern starts at
    address p. *)
Definition stored e m p x := 8 * p + place e (swizzle_elements e m x).

(** The pattern of a word starts at p: p is a multiple of a 128-byte line, and the base offset is the number of this line
    modulo the lines of the pattern. Without a swizzle, any multiple of 16 bytes will do. *)
Definition pattern_at f p :=
  if swizzled (mode f) then p mod 128 = 0 /\ (base_offset f - p / 128) mod 2 ^ bits (mode f) = 0 else p mod 16 = 0.

Definition well_formed e := 0 <= storage e <= 7.

(** Rows and units of an operand are as a word walks over them. Offsets x of rows and y of elements along the contiguous
    dimension are relative to the first element. A multiple of 2^storage is a number of bits. *)
Definition row_matches e f mj r x := 2 ^ storage e * x = 8 * across f mj r.
Definition unit_matches e f mj c y :=
  2 ^ storage e * y = 8 * along f mj (c / per16 e) + 2 ^ storage e * (c mod per16 e) /\
  (absolute f = true -> absolute_allowed f mj (c / per16 e) = true).

Lemma unit_size : forall e, well_formed e ->
  0 < 2 ^ storage e /\ 0 < per16 e /\ 2 ^ storage e * per16 e = 128.
Proof.
  intros e H. unfold per16, well_formed in *. repeat split; try (apply power_positive; lia).
  rewrite <- Z.pow_add_r by lia. replace (storage e + (7 - storage e)) with 7 by ring. reflexivity.
Qed.

Lemma mode_bits : forall m, 0 <= bits m /\ 4 <= position m /\ position m + bits m <= 7.
Proof. destruct m; cbn; lia. Qed.

Lemma decoded_units : forall a w f, decode a w = Some f ->
  start f mod 16 = 0 /\ leading f mod 16 = 0 /\ stride f mod 16 = 0.
Proof.
  intros a w f H. unfold decode in H.
  destruct (mode_of a w); [|discriminate]. destruct (meaningful a w); [|discriminate].
  injection H as <-. cbn. repeat split; apply Z.mod_mul; lia.
Qed.

Lemma divides_16 : forall x, x mod 16 = 0 -> exists y, x = 16 * y.
Proof. intros x H. apply Z.mod_divide in H; [|lia]. destruct H as [y ->]. exists y. ring. Qed.

(** All steps of the walk are multiples of 16 bytes. *)
Lemma across_units : forall f mj r, leading f mod 16 = 0 -> stride f mod 16 = 0 -> exists n, across f mj r = 16 * n.
Proof.
  intros f mj r HL HS. apply divides_16 in HL, HS. destruct HL as [l HL], HS as [s HS].
  unfold across. rewrite HL, HS.
  assert (Hw : exists n, span (mode f) = 16 * n) by (destruct (mode f); [exists 1|exists 2|exists 4|exists 8|exists 8]; reflexivity).
  destruct Hw as [n ->]. destruct mj.
  - exists (r mod 8 * n + r / 8 * s). ring.
  - destruct (swizzled (mode f)).
    + exists (r mod group_rows (mode f) * n + r / group_rows (mode f) * s). ring.
    + exists (r mod group_rows (mode f) * n + r / group_rows (mode f) * l). ring.
Qed.

Lemma along_units : forall f mj q, start f mod 16 = 0 -> leading f mod 16 = 0 -> stride f mod 16 = 0 ->
  exists n, along f mj q = 16 * n.
Proof.
  intros f mj q Hst HL HS. apply divides_16 in Hst, HL, HS. destruct Hst as [t Ht], HL as [l HL], HS as [s HS].
  unfold along. destruct (absolute f).
  - destruct (_ <? _); [exists q; reflexivity|]. rewrite HL, Ht.
    change 128 with (16 * 8). rewrite Z.mul_mod_distr_l by lia.
    exists (l + t mod 8 - 8 + q - t). ring.
  - destruct mj.
    + destruct (swizzled (mode f)); [exists q; ring|]. rewrite HL. exists (q * l). ring.
    + assert (Hw : exists n, 0 < n /\ span (mode f) = 16 * n)
        by (destruct (mode f); [exists 1|exists 2|exists 4|exists 8|exists 8]; (split; [lia|reflexivity])).
      destruct Hw as [n [Hn ->]]. rewrite Z.mul_mod_distr_l by lia. rewrite HL, HS.
      destruct (swizzled (mode f)).
      * exists (q mod n + 16 * q / (16 * n) * l). ring.
      * exists (q mod n + 16 * q / (16 * n) * s). ring.
Qed.

(** Permuting an absolute address, and swizzling an offset in elements, are the same on 16-byte units. *)
Lemma permuted_unit : forall f p n, pattern_at f p ->
  permute (bits (mode f)) (position (mode f)) (base_offset f) (p + 16 * n) =
  p + 16 * swizzle (bits (mode f)) (position (mode f) - 4) (7 - position (mode f)) n.
Proof.
  intros f p n H. unfold pattern_at, swizzled in H. destruct (mode_bits (mode f)) as (Hb & Hp & Hs).
  destruct (Z.eqb_spec (bits (mode f)) 0) as [none | some]; cbn [negb] in H.
  - rewrite none, permute_none, swizzle_none. reflexivity.
  - destruct H as [Hm Ho]. rewrite permute_from by (assumption || lia). f_equal.
    replace (position (mode f)) with (position (mode f) - 4 + 4) at 1 by ring.
    replace (16 * n) with (2 ^ 4 * n + 0) by (change (2 ^ 4) with 16; ring).
    rewrite swizzle_units by (lia || (split; reflexivity || discriminate)). rewrite Z.add_0_r. reflexivity.
Qed.

Lemma stored_unit : forall e m p n v, well_formed e -> 0 <= v < per16 e ->
  stored e m p (per16 e * n + v) =
  8 * (p + 16 * swizzle (bits m) (position m - 4) (7 - position m) n) + v * step e.
Proof.
  intros e m p n v He Hv. destruct (mode_bits m) as (Hb & Hp & Hs). destruct (unit_size e He) as (Hs1 & Hs2 & _).
  unfold stored, swizzle_elements, place, per16 in *. unfold well_formed in He.
  replace (position m + 3 - storage e) with (position m - 4 + (7 - storage e)) by ring.
  rewrite swizzle_units by lia.
  destruct (div_split (2 ^ (7 - storage e)) (swizzle (bits m) (position m - 4) (7 - position m) n) v) as [-> ->];
    [assumption|assumption|]. ring.
Qed.

(** A descriptor reads its operand. Let w be any word of any architecture, with fields f, and let the first element of
    the operand have the plain offset z of its tile, whose pattern starts at address p. If element (i, k) has the offset
    z + x + y, where x and y are what the word adds for its row and its unit, then w reads the element from where the
    tile stores it. *)
Theorem word_reads_operand : forall a w f e mj p z i k x y,
  decode a w = Some f -> well_formed e -> pattern_at f p ->
  8 * (start f - p) = 2 ^ storage e * z ->
  row_matches e f mj (outer mj i k) x -> unit_matches e f mj (inner mj i k) y ->
  read a w e mj i k = Some (stored e (mode f) p (z + (x + y))).
Proof.
  intros a w f e mj p z i k x y Hd He Hp Hz Hx [Hy Hok].
  destruct (decoded_units _ _ _ Hd) as (Us & Ul & Ut).
  destruct (unit_size e He) as (P1 & P2 & P3).
  unfold read. rewrite Hd. set (c := inner mj i k) in *. set (r := outer mj i k) in *. cbv zeta.
  replace (absolute f && negb (absolute_allowed f mj (c / per16 e))) with false.
  2: { destruct (absolute f); [rewrite (Hok eq_refl)|]; reflexivity. }
  destruct (across_units f mj r Ul Ut) as [u Hu]. destruct (along_units f mj (c / per16 e) Us Ul Ut) as [v Hv].
  unfold row_matches in Hx. rewrite Hu in *. rewrite Hv in *.
  assert (Hpu : exists n, p = 16 * n).
  { apply divides_16. unfold pattern_at in Hp. destruct (swizzled (mode f)); [|assumption].
    destruct Hp as [Hp _]. apply Z.mod_divide in Hp; [|lia]. destruct Hp as [n ->].
    replace (n * 128) with (n * 8 * 16) by ring. apply Z.mod_mul; lia. }
  destruct Hpu as [pu Hpu]. apply divides_16 in Us. destruct Us as [su Hsu].
  assert (Hw : 0 <= c mod per16 e < per16 e) by (apply Z.mod_pos_bound; lia).
  set (n := su - pu + u + v).
  assert (offset : z + (x + y) = per16 e * n + c mod per16 e).
  { apply Z.mul_reg_l with (2 ^ storage e); [lia|].
    rewrite !Z.mul_add_distr_l, Z.mul_assoc, P3, Hx, Hy, <- Hz. unfold n. rewrite Hsu, Hpu. ring. }
  rewrite offset, stored_unit by assumption.
  replace (start f + 16 * v + 16 * u) with (p + 16 * n) by (unfold n; rewrite Hsu, Hpu; ring).
  rewrite permuted_unit by assumption. reflexivity.
Qed.
