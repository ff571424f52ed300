(** Operands with 48 bytes of K (K = 96), which cross from one 128-byte line to the next: LBO mode 1, for all sizes.

    Python: [descriptors/smem/derivation/crossing.py]. *)

From Coq Require Import ZArith Lia Bool List.
From LayoutAlg Require Import Bits ReadModel Canonical Layouts.
Import ListNotations.
Open Scope Z_scope.

(** The tile is K-major with swizzle 128B. Along K it consists of lines of 8 units of 16 bytes, and line l begins
    [16 * line_units * l] bytes after line 0. Rows are 128 bytes apart, groups of 8 rows [stride f] bytes. Operand j has the
    units 3j, 3j+1 and 3j+2. Its word has the address of unit 3j as the start, and as LBO the address of the line of unit
    3j+2, both for the row group of the operand, which begins [first] units after the tile. All words read their
    operands, if lines and row groups are multiples of 128 bytes apart and the tile is aligned to 1024 bytes. *)
Theorem crossing_words_read : forall a w f e rows line_step line_units N first i0 p j,
  decode a w = Some f -> well_formed e -> mode f = B128 -> absolute f = true -> base_offset f = 0 ->
  p mod 1024 = 0 -> first mod 8 = 0 -> line_units mod 8 = 0 -> 0 <= j ->
  2 ^ storage e * line_step = 128 * line_units ->
  2 ^ storage e * value rows i0 = 128 * first ->
  (forall i, 0 <= i -> 2 ^ storage e * (value rows (i0 + i) - value rows i0) = 8 * (i mod 8 * 128 + i / 8 * stride f)) ->
  start f = p + 16 * (first + (3 * j) mod 8 + 3 * j / 8 * line_units) ->
  leading f = p + 16 * (first + (3 * j + 2) / 8 * line_units) ->
  forall i c, 0 <= i -> 0 <= c < 3 * per16 e ->
  read a w e K i c = Some (stored e B128 p
    (value rows (i0 + i) + value [(row_elements e B128, 1); (N, line_step)] (j * (3 * per16 e) + c))).
Proof.
  intros a w f e rows line_step line_units N first i0 p j Hd He Hm Hab Hbo Hp Hf Hl Hj Hline Hfirst Hrows Hst Hle
    i c Hi Hc.
  destruct (unit_size e He) as (U1 & U2 & U3).
  assert (HL : row_elements e B128 = per16 e * 8) by reflexivity. rewrite HL. cbn [value].
  assert (Q := Z.div_mod c (per16 e) ltac:(lia)). assert (M := Z.mod_pos_bound c (per16 e) U2).
  set (q := c / per16 e) in *. set (r := c mod per16 e) in *.
  assert (Hq : 0 <= q < 3) by nia.
  assert (place_of : forall y v, 0 <= v < per16 e ->
    (per16 e * y + v) mod (per16 e * 8) = per16 e * (y mod 8) + v /\ (per16 e * y + v) / (per16 e * 8) = y / 8).
  { intros y v Hv. rewrite Z.rem_mul_r, <- Z.div_div by lia.
    destruct (div_split (per16 e) y v U2 Hv) as [-> ->]. lia. }
  replace (j * (3 * per16 e) + c) with (per16 e * (3 * j + q) + r) by lia.
  destruct (place_of (3 * j + q) r M) as [-> ->].
  set (x := 3 * j) in *.
  assert (Hp16 : pattern_at f p).
  { unfold pattern_at. rewrite Hm, Hbo. cbn [swizzled bits Z.eqb negb]. apply Z.mod_divide in Hp; [|lia].
    destruct Hp as [n ->]. split.
    - replace (n * 1024) with (n * 8 * 128) by ring. apply Z.mod_mul. lia.
    - replace (n * 1024) with (n * 8 * 128) by ring. rewrite Z.div_mul by lia.
      replace (0 - n * 8) with ((- n) * 2 ^ 3) by (change (2 ^ 3) with 8; ring). apply Z.mod_mul. discriminate. }
  set (z := value rows i0 + (per16 e * (x mod 8) + x / 8 * line_step)).
  replace (value rows (i0 + i) + _) with
    (z + ((value rows (i0 + i) - value rows i0) + (per16 e * ((x + q) mod 8 - x mod 8) + r + ((x + q) / 8 - x / 8) * line_step)))
    by (unfold z; ring).
  rewrite <- Hm. apply word_reads_operand; try assumption.
  - unfold z. rewrite Hst. transitivity (2 ^ storage e * value rows i0 + 2 ^ storage e * per16 e * (x mod 8)
      + x / 8 * (2 ^ storage e * line_step)); [|ring]. rewrite Hfirst, U3, Hline. ring.
  - unfold row_matches, across, outer. rewrite Hm, Hrows by assumption. reflexivity.
  - assert (Hs : start f mod 128 = 16 * (x mod 8)).
    { rewrite Hst. apply Z.mod_divide in Hp, Hf, Hl; try lia. destruct Hp as [n ->], Hf as [m ->], Hl as [l ->].
      replace (n * 1024 + 16 * (m * 8 + x mod 8 + x / 8 * (l * 8))) with (16 * (x mod 8) + (n * 8 + m + x / 8 * l) * 128)
        by ring. rewrite Z.mod_add by lia. apply Z.mod_small. assert (B := Z.mod_pos_bound x 8 ltac:(lia)). lia. }
    unfold unit_matches, along. cbn [inner]. fold q r. rewrite Hab, Hs, Hst, Hle. split.
    + transitivity (2 ^ storage e * per16 e * ((x + q) mod 8 - x mod 8) + 2 ^ storage e * r
        + ((x + q) / 8 - x / 8) * (2 ^ storage e * line_step)); [ring|]. rewrite U3, Hline.
      destruct (Z.ltb_spec (16 * (x mod 8) + 16 * q) 128) as [below | beyond].
      * assert ((x + q) / 8 = x / 8 /\ (x + q) mod 8 = x mod 8 + q) as [-> ->] by (Z.div_mod_to_equations; lia). ring.
      * assert ((x + q) / 8 = x / 8 + 1 /\ (x + q) mod 8 = x mod 8 + q - 8 /\ (x + 2) / 8 = x / 8 + 1) as (-> & -> & ->)
          by (Z.div_mod_to_equations; lia). ring.
    + intros _. unfold absolute_allowed. rewrite Hm, Hbo. cbn [Z.eqb andb].
      replace (leading f mod 128 =? 0) with true; [apply Z.ltb_lt; lia|]. symmetry. apply Z.eqb_eq. rewrite Hle.
      apply Z.mod_divide in Hp, Hf, Hl; try lia. destruct Hp as [n ->], Hf as [m ->], Hl as [l ->].
      replace (n * 1024 + 16 * (m * 8 + (x + 2) / 8 * (l * 8))) with ((n * 8 + m + (x + 2) / 8 * l) * 128) by ring.
      apply Z.mod_mul. lia.
Qed.
