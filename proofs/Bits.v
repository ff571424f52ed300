(** Swizzles as functions on all integers, and the three facts about them that the theorems use.

    Python: [layoutalg.Swizzle] with a shift that is not negative. *)

From Coq Require Import ZArith Lia Bool.
Open Scope Z_scope.

(** [S<B,M,S>]: the B bits from bit M+S on are combined, by exclusive or, with the B bits from bit M on. *)
Definition swizzle (B M S x : Z) : Z := Z.lxor x (x / 2 ^ (M + S) mod 2 ^ B * 2 ^ M).

Lemma power_positive : forall n, 0 <= n -> 0 < 2 ^ n.
Proof. intros. apply Z.pow_pos_nonneg; lia. Qed.

(** An exclusive or treats the bits below n and the others separately. *)
Lemma lxor_split : forall n a b w v, 0 <= n -> 0 <= w < 2 ^ n -> 0 <= v < 2 ^ n ->
  Z.lxor (2 ^ n * a + w) (2 ^ n * b + v) = 2 ^ n * Z.lxor a b + Z.lxor w v.
Proof.
  intros n a b w v Hn Hw Hv.
  assert (Hp := power_positive n Hn).
  assert (high : forall c u, 0 <= u < 2 ^ n -> Z.shiftr (2 ^ n * c + u) n = c).
  { intros c u Hu. rewrite Z.shiftr_div_pow2, Z.mul_comm, Z.div_add_l, Z.div_small by lia. lia. }
  assert (low : forall c u, 0 <= u < 2 ^ n -> (2 ^ n * c + u) mod 2 ^ n = u).
  { intros c u Hu. rewrite Z.add_comm, Z.mul_comm, Z.mod_add, Z.mod_small by lia. reflexivity. }
  assert (mixed : Z.lxor (2 ^ n * a + w) (2 ^ n * b + v) mod 2 ^ n = Z.lxor w v).
  { apply Z.bits_inj'. intros i Hi. destruct (Z_lt_ge_dec i n) as [below | above].
    - rewrite Z.mod_pow2_bits_low, !Z.lxor_spec by lia.
      rewrite <- (Z.mod_pow2_bits_low (2 ^ n * a + w) n i), <- (Z.mod_pow2_bits_low (2 ^ n * b + v) n i) by lia.
      rewrite !low by assumption. reflexivity.
    - rewrite Z.mod_pow2_bits_high, Z.lxor_spec by lia.
      rewrite <- (Z.mod_small w (2 ^ n)), <- (Z.mod_small v (2 ^ n)) by assumption.
      rewrite !Z.mod_pow2_bits_high by lia. reflexivity. }
  rewrite (Z.div_mod (Z.lxor _ _) (2 ^ n)) by lia.
  rewrite mixed, <- Z.shiftr_div_pow2, Z.shiftr_lxor, !high by assumption. reflexivity.
Qed.

Lemma div_split : forall n q w, 0 < n -> 0 <= w < n -> (n * q + w) / n = q /\ (n * q + w) mod n = w.
Proof.
  intros n q w Hn Hw. rewrite Z.mul_comm, Z.div_add_l, (Z.div_small w) by lia. split; [lia|].
  rewrite Z.add_comm, Z.mod_add, Z.mod_small by lia. reflexivity.
Qed.

(** A swizzle that only changes bits from n on permutes the multiples of 2^n. This turns a swizzle of elements into one
    of 16-byte units, and one of units into one of bytes. *)
Lemma swizzle_units : forall B M S n q w, 0 <= B -> 0 <= M -> 0 <= S -> 0 <= n -> 0 <= w < 2 ^ n ->
  swizzle B (M + n) S (2 ^ n * q + w) = 2 ^ n * swizzle B M S q + w.
Proof.
  intros B M S n q w HB HM HS Hn Hw. unfold swizzle.
  assert (Hp := power_positive n Hn). assert (Hq := power_positive (M + S) ltac:(lia)).
  replace (M + n + S) with (n + (M + S)) by ring. rewrite (Z.pow_add_r 2 n (M + S)), (Z.pow_add_r 2 M n) by lia.
  rewrite <- Z.div_div by lia. destruct (div_split (2 ^ n) q w Hp Hw) as [-> _]. set (h := q / _ mod _).
  replace (h * (2 ^ M * 2 ^ n)) with (2 ^ n * (h * 2 ^ M) + 0) by ring.
  rewrite lxor_split by lia. rewrite Z.lxor_0_r. reflexivity.
Qed.

(** The permutation that the hardware applies to an absolute address. It reads the number of the 128-byte line, from
    which it subtracts the base offset. *)
Definition permute (B position base_offset address : Z) : Z :=
  Z.lxor address ((address / 2 ^ 7 - base_offset) mod 2 ^ B * 2 ^ position).

(** If the pattern starts at p, a multiple of 128 bytes whose line number is the base offset modulo the number of lines
    of the pattern, then the permuted absolute address is p plus the swizzled distance from p. *)
Lemma permute_from : forall B position offset p x, 0 <= B -> 0 <= position -> position + B <= 7 ->
  p mod 128 = 0 -> (offset - p / 128) mod 2 ^ B = 0 ->
  permute B position offset (p + x) = p + swizzle B position (7 - position) x.
Proof.
  intros B position offset p x HB HM HBM Hp Ho. unfold permute, swizzle.
  replace (position + (7 - position)) with 7 by ring. change (2 ^ 7) with 128.
  assert (HP := power_positive B HB).
  apply Z.mod_divide in Hp; [|lia]. destruct Hp as [c ->]. rewrite Z.div_mul in Ho by lia.
  apply Z.mod_divide in Ho; [|lia]. destruct Ho as [d Ho].
  rewrite Z.div_add_l by lia. replace (c + x / 128 - offset) with (x / 128 + (- d) * 2 ^ B) by lia.
  rewrite Z.mod_add by lia. set (h := x / 128 mod 2 ^ B).
  assert (Hh : 0 <= h < 2 ^ B) by (apply Z.mod_pos_bound; lia).
  assert (Hm : 0 <= h * 2 ^ position < 128).
  { assert (Hq := power_positive position HM). split; [nia|].
    apply Z.lt_le_trans with (2 ^ B * 2 ^ position); [nia|].
    rewrite <- Z.pow_add_r by lia. change 128 with (2 ^ 7). apply Z.pow_le_mono_r; lia. }
  assert (Hx : x = 2 ^ 7 * (x / 128) + x mod 128) by (apply (Z.div_mod x 128); lia).
  assert (Hr : 0 <= x mod 128 < 2 ^ 7) by (apply Z.mod_pos_bound; lia).
  replace (h * 2 ^ position) with (2 ^ 7 * 0 + h * 2 ^ position) by lia.
  rewrite Hx at 1 2. replace (c * 128 + _) with (2 ^ 7 * (c + x / 128) + x mod 128) by (change (2 ^ 7) with 128; ring).
  rewrite !lxor_split by (exact Hm || exact Hr || lia). rewrite !Z.lxor_0_r. change (2 ^ 7) with 128. ring.
Qed.

Lemma permute_none : forall position offset x, permute 0 position offset x = x.
Proof. intros. unfold permute. change (2 ^ 0) with 1. rewrite Z.mod_1_r. apply Z.lxor_0_r. Qed.

Lemma swizzle_none : forall M S x, swizzle 0 M S x = x.
Proof. intros. unfold swizzle. change (2 ^ 0) with 1. rewrite Z.mod_1_r. apply Z.lxor_0_r. Qed.

(** A swizzle is its own inverse: the bits that it reads are not those that it changes. So it is a permutation. *)
Theorem swizzle_involutive : forall B M S x, 0 <= B <= S -> 0 <= M -> swizzle B M S (swizzle B M S x) = x.
Proof.
  intros B M S x HB HM. unfold swizzle at 2. set (h := x / 2 ^ (M + S) mod 2 ^ B).
  assert (Hh : 0 <= h < 2 ^ B) by (apply Z.mod_pos_bound, power_positive; lia).
  assert (Hs : 0 <= h * 2 ^ M < 2 ^ (M + S)).
  { assert (Hp := power_positive M HM). split; [nia|]. rewrite Z.pow_add_r by lia.
    assert (2 ^ B <= 2 ^ S) by (apply Z.pow_le_mono_r; lia). nia. }
  assert (same : Z.lxor x (h * 2 ^ M) / 2 ^ (M + S) = x / 2 ^ (M + S)).
  { rewrite <- !Z.shiftr_div_pow2, Z.shiftr_lxor by lia. rewrite (Z.shiftr_div_pow2 (h * _)) by lia.
    rewrite (Z.div_small (h * _)) by exact Hs. apply Z.lxor_0_r. }
  unfold swizzle. rewrite same. fold h. rewrite Z.lxor_assoc, Z.lxor_nilpotent. apply Z.lxor_0_r.
Qed.
