(** Bits without effect: two words that differ in them read every element of an operand from the same address.

    Python: [Derivation.dont_care_mask] in [descriptors/smem/derivation/derivation.py]. The mask there has the bits of
    fields; the mask here also has the bits that belong to no field. *)

From Coq Require Import ZArith Lia Bool.
From LayoutAlg Require Import Bits ReadModel Canonical.
Open Scope Z_scope.


(** Whether a word of this mode reads its LBO and its SBO for an operand of R x C elements. *)
Definition reads_leading m mj e R C :=
  match mj with
  | K => negb (swizzled m) && (per16 e <? C)
  | MN => if swizzled m then span m / 16 * per16 e <? R else group_rows m <? C
  end.
Definition reads_stride m mj e R C :=
  match mj with
  | K => 8 <? R
  | MN => if swizzled m then group_rows m <? C else per16 e <? R
  end.

Definition block low width := (2 ^ width - 1) * 2 ^ low.

(** The bits of a word that have no effect: those of no field, LBO or SBO where they are not read, and the bits of the
    base offset beyond the lines of the pattern. *)
Definition mask a m (leading_read stride_read : bool) :=
  match a with
  | Sm90 => block 14 2 + block 30 2 + block 46 3 + block 52 10
  | Sm100 => block 14 2 + block 30 2 + block 53 8
  | Sm107 => block 15 1 + block 31 1 + block 54 7
  end
  + (if leading_read then 0 else block 16 (address_bits a)) + (if stride_read then 0 else block 32 14)
  + block (49 + bits m) (3 - bits m).
Definition ignored a m mj e R C := mask a m (reads_leading m mj e R C) (reads_stride m mj e R C).

Lemma masked_field : forall w kept low width, 0 <= low -> 0 <= width -> field kept low width = Z.ones width ->
  field (Z.land w kept) low width = field w low width.
Proof.
  intros w kept low width Hl Hw Hm. unfold field in *. rewrite <- !Z.shiftr_div_pow2 in * by assumption.
  rewrite <- !Z.land_ones in * by assumption. rewrite Z.shiftr_land, <- Z.land_assoc, Hm. reflexivity.
Qed.

Lemma same_field : forall w w' kept low width, 0 <= low -> 0 <= width -> field kept low width = Z.ones width ->
  Z.land w kept = Z.land w' kept -> field w low width = field w' low width.
Proof.
  intros. rewrite <- (masked_field w kept), <- (masked_field w' kept) by assumption. congruence.
Qed.

Lemma field_prefix : forall w low narrow wide, 0 <= narrow <= wide -> 0 <= low ->
  field w low wide mod 2 ^ narrow = field w low narrow.
Proof.
  intros w low narrow wide H Hl. unfold field. rewrite <- !Z.land_ones by lia. rewrite <- Z.land_assoc.
  f_equal. rewrite Z.land_ones, Z.ones_equiv by lia. 
  rewrite (Z.ones_equiv narrow).
  assert (P := power_positive narrow ltac:(lia)). assert (Q := power_positive (wide - narrow) ltac:(lia)).
  replace wide with (narrow + (wide - narrow)) by ring. rewrite Z.pow_add_r by lia.
  replace (Z.pred (2 ^ narrow * 2 ^ (wide - narrow)))
    with (Z.pred (2 ^ narrow) + (2 ^ (wide - narrow) - 1) * 2 ^ narrow) by (unfold Z.pred; ring).
  rewrite Z.mod_add, Z.mod_small by lia. reflexivity.
Qed.

(** The mask contains no bit of a field that is read. *)
Lemma fields_kept : forall a m x y, let kept := Z.lnot (mask a m x y) in
  field kept 0 (address_bits a) = Z.ones (address_bits a) /\ field kept 49 (bits m) = Z.ones (bits m) /\
  (x = true -> field kept 16 (address_bits a) = Z.ones (address_bits a)) /\
  (y = true -> field kept 32 14 = Z.ones 14) /\
  match a with
  | Sm90 => field kept 62 2 = Z.ones 2
  | Sm100 => field kept 61 3 = Z.ones 3 /\ field kept 46 3 = Z.ones 3 /\ field kept 52 1 = Z.ones 1
  | Sm107 => field kept 61 3 = Z.ones 3 /\ field kept 46 3 = Z.ones 3 /\ field kept 52 1 = Z.ones 1
             /\ field kept 53 1 = Z.ones 1
  end.
Proof.
  intros a m x y. destruct a, m, x, y; vm_compute;
    repeat match goal with |- _ /\ _ => split | |- _ -> _ => intros H; try discriminate H end; reflexivity.
Qed.

Lemma permute_lines : forall B position o o' x, 0 <= B -> o mod 2 ^ B = o' mod 2 ^ B ->
  permute B position o x = permute B position o' x.
Proof.
  intros B position o o' x HB H. unfold permute. rewrite (Zminus_mod _ o), H, <- Zminus_mod. reflexivity.
Qed.

(** Fields of two words that agree outside the mask. *)
Lemma same_along : forall f f' e mj i k R C, well_formed e -> 0 <= i < R -> 0 <= k < C ->
  absolute f = false -> absolute f' = false -> mode f = mode f' ->
  (reads_leading (mode f) mj e R C = true -> leading f = leading f') ->
  (reads_stride (mode f) mj e R C = true -> stride f = stride f') ->
  along f mj (inner mj i k / per16 e) = along f' mj (inner mj i k / per16 e) /\
  across f mj (outer mj i k) = across f' mj (outer mj i k).
Proof.
  intros f f' e mj i k R C He Hi Hk A A' M L S. destruct (unit_size e He) as (_ & P & _).
  unfold along, across. rewrite A, A', <- M. unfold reads_leading, reads_stride in *.
  assert (first : forall x n X, 0 <= x < X -> 0 < n -> (n <? X) = false -> x / n = 0)
    by (intros x n X Hx Hn HX; apply Z.ltb_ge in HX; apply Z.div_small; lia).
  assert (Hg : 0 < group_rows (mode f)) by (destruct (mode f); reflexivity).
  assert (Hs : exists u, 0 < u /\ span (mode f) = 16 * u)
    by (destruct (mode f); [exists 1|exists 2|exists 4|exists 8|exists 8]; (split; reflexivity)).
  destruct Hs as (u & Hu & Hs).
  destruct mj; cbn [inner outer].
  - split.
    + destruct (swizzled (mode f)); [reflexivity|]. cbn [negb andb] in L.
      destruct (per16 e <? C) eqn:E; [rewrite (L eq_refl); reflexivity|]. rewrite (first k (per16 e) C) by assumption.
      reflexivity.
    + destruct (8 <? R) eqn:E; [rewrite (S eq_refl); reflexivity|]. rewrite (first i 8 R) by (lia || assumption).
      reflexivity.
  - assert (unit : (span (mode f) / 16 * per16 e <? R) = false -> 16 * (i / per16 e) / span (mode f) = 0).
    { intros E. rewrite Hs in *. rewrite (Z.mul_comm 16 u), Z.div_mul in E by lia.
      rewrite Z.div_mul_cancel_l, Z.div_div by lia.
      apply (first i _ R); (assumption || lia || nia). }
    destruct (swizzled (mode f)); split.
    + destruct (span (mode f) / 16 * per16 e <? R) eqn:E; [rewrite (L eq_refl); reflexivity|].
      rewrite (unit eq_refl). reflexivity.
    + destruct (group_rows (mode f) <? C) eqn:E; [rewrite (S eq_refl); reflexivity|].
      rewrite (first k _ C) by assumption. reflexivity.
    + destruct (per16 e <? R) eqn:E; [rewrite (S eq_refl); reflexivity|].
      rewrite (first i (per16 e) R) by assumption. reflexivity.
    + destruct (group_rows (mode f) <? C) eqn:E; [rewrite (L eq_refl); reflexivity|].
      rewrite (first k _ C) by assumption. reflexivity.
Qed.

Definition no_absolute a w := match a with Sm90 => True | _ => field w 52 1 = 0 end.

(** Bits in the mask have no effect: if a word of mode m, without an absolute LBO, and another word differ only in bits of
    the mask for an operand of R x C elements, then both read each of these elements from the same address, or both have
    no meaning. *)
Theorem ignored_bits : forall a w w' m mj e R C, mode_of a w = Some m -> no_absolute a w -> well_formed e ->
  Z.land w (Z.lnot (ignored a m mj e R C)) = Z.land w' (Z.lnot (ignored a m mj e R C)) ->
  forall i k, 0 <= i < R -> 0 <= k < C -> read a w e mj i k = read a w' e mj i k.
Proof.
  intros a w w' m mj e R C Hm Ha He H i k Hi Hk. unfold ignored in H.
  destruct (fields_kept a m (reads_leading m mj e R C) (reads_stride m mj e R C)) as (K0 & K1 & K2 & K3 & K4).
  cbv zeta in *. set (kept := Z.lnot _) in *.
  assert (same : forall low width, 0 <= low -> 0 <= width -> field kept low width = Z.ones width ->
    field w low width = field w' low width) by (intros; apply (same_field w w' kept); assumption).
  assert (Hm' : mode_of a w' = Some m).
  { rewrite <- Hm. symmetry. destruct a; unfold mode_of.
    - rewrite (same 62 2) by (lia || tauto). reflexivity.
    - rewrite (same 61 3) by (lia || tauto). reflexivity.
    - rewrite (same 61 3) by (lia || tauto). reflexivity. }
  assert (Hmeaning : meaningful a w = meaningful a w').
  { destruct a; unfold meaningful; [reflexivity| |].
    - rewrite (same 46 3) by (lia || tauto). reflexivity.
    - rewrite (same 46 3), (same 53 1) by (lia || tauto). reflexivity. }
  unfold read, decode. rewrite Hm, Hm', <- Hmeaning. destruct (meaningful a w); [|reflexivity].
  assert (Hab : (match a with Sm90 => false | _ => field w 52 1 =? 1 end) = false)
    by (destruct a; [reflexivity| |]; cbn in Ha; rewrite Ha; reflexivity).
  assert (Hab' : (match a with Sm90 => false | _ => field w' 52 1 =? 1 end) = false).
  { destruct a; [reflexivity| |]; cbn in Ha; rewrite <- (same 52 1), Ha by (lia || tauto); reflexivity. }
  rewrite Hab, Hab'. cbn [absolute andb mode base_offset start].
  assert (Hbits : 0 <= address_bits a) by (destruct a; discriminate).
  set (f := Fields (field w 0 _ * 16) _ _ _ m false). set (f' := Fields (field w' 0 _ * 16) _ _ _ m false).
  destruct (same_along f f' e mj i k R C) as [-> ->]; try assumption; try reflexivity.
  - cbn. intros E. rewrite (same 16 (address_bits a)) by (lia || tauto). reflexivity.
  - cbn. intros E. rewrite (same 32 14) by (lia || tauto). reflexivity.
  - rewrite (same 0 (address_bits a)) by (lia || tauto). f_equal. f_equal. f_equal.
    destruct (mode_bits m) as (B1 & B2 & B3).
    apply permute_lines; [assumption|].
    rewrite !field_prefix by lia. apply same; (lia || tauto).
Qed.
