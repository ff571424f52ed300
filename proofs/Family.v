(** The theorem about tiles of atoms, of all sizes: the descriptor whose LBO and SBO are the distances between atoms reads
    every operand that begins at a legal place.

    Python: [descriptors/sweep/formulas.py], whose table [docs/formulas.md] has these closed forms, and
    [family] in a proof of [descriptors derive]. *)

From Coq Require Import ZArith Lia Bool List.
From LayoutAlg Require Import Bits ReadModel Words Canonical Layouts.
Import ListNotations.
Open Scope Z_scope.

(** Bytes from one group of units or rows to the next. [mn_bytes] and [k_bytes] are the distances between atoms. Without
    a swizzle, the two offsets of an MN-major operand have exchanged roles. An atom of 8 rows of [B128_base32] has two
    groups of 4 rows, 512 bytes apart. *)
Definition leading_of mj m (mn_bytes k_bytes : Z) := match mj, swizzled m with MN, true => mn_bytes | _, _ => k_bytes end.
Definition stride_of mj m height (mn_bytes k_bytes : Z) :=
  match mj, swizzled m with
  | MN, true => if height =? group_rows m then k_bytes else span m * group_rows m
  | _, _ => mn_bytes
  end.

(** Heights of atoms: 8 rows; 4 or 8 for [B128_base32], which is MN-major. *)
Definition height_allowed mj m height : bool :=
  match mj, m with
  | K, B128_base32 => false
  | MN, B128_base32 => (height =? 4) || (height =? 8)
  | _, _ => height =? 8
  end.

(** Where an operand may begin and end: at whole rows of 8 or whole atoms across, at 16-byte units along K, and within a
    row of the swizzle along K. *)
Definition allowed mj e m height i0 j0 C : Prop :=
  match mj with
  | K => i0 mod 8 = 0 /\ j0 mod per16 e = 0 /\ (swizzled m = true -> j0 mod row_elements e m + C <= row_elements e m)
  | MN => i0 mod row_elements e m = 0 /\ j0 mod height = 0 /\ (height <> group_rows m -> C <= height)
  end.

Lemma next_digit : forall n x y, 0 < n -> x mod n = 0 -> (x + y) mod n = y mod n /\ (x + y) / n = x / n + y / n.
Proof.
  intros n x y Hn Hx. apply Z.mod_divide in Hx; [|lia]. destruct Hx as [c ->].
  rewrite Z.add_comm, Z.mod_add, Z.div_add, Z.div_mul by lia. lia.
Qed.

Lemma row_facts : forall e m, well_formed e ->
  0 < row_units m /\ span m = 16 * row_units m /\ 0 < row_elements e m /\
  2 ^ storage e * row_elements e m = 8 * span m.
Proof.
  intros e m He. destruct (unit_size e He) as (P1 & P2 & P3). unfold row_elements.
  assert (Hu : 0 < row_units m /\ span m = 16 * row_units m) by (destruct m; cbn; lia).
  destruct Hu as [Hu ->]. repeat split; nia.
Qed.

(** All tiles of atoms. The distances between atoms are arbitrary multiples of 16 bytes, and z is any further offset, such
    as that of a stage. *)
Theorem atoms_are_read : forall a w f e mj m height M N mn_step k_step mn_bytes k_bytes p z i0 j0 R C,
  decode a w = Some f -> mode f = m -> absolute f = false -> well_formed e -> pattern_at f p ->
  height_allowed mj m height = true -> allowed mj e m height i0 j0 C -> 0 <= i0 -> 0 <= j0 ->
  2 ^ storage e * mn_step = 8 * mn_bytes -> 2 ^ storage e * k_step = 8 * k_bytes ->
  let '(n0, d0, (n1, d1)) := atom mj e m height in
  let offset i j := z + (value [(n0, d0); (M, mn_step)] i + value [(n1, d1); (N, k_step)] j) in
  leading f = leading_of mj m mn_bytes k_bytes \/ (mj = K /\ swizzled m = true) ->
  stride f = stride_of mj m height mn_bytes k_bytes ->
  8 * (start f - p) = 2 ^ storage e * offset i0 j0 ->
  forall i k, 0 <= i < R -> 0 <= k < C -> read a w e mj i k = Some (stored e m p (offset (i0 + i) (j0 + k))).
Proof.
  intros a w f e mj m height M N mn_step k_step mn_bytes k_bytes p z i0 j0 R C
    Hd Hm Hab He Hp Hh Hal Hi0 Hj0 Emn Ek.
  destruct (unit_size e He) as (P1 & P2 & P3). destruct (row_facts e m He) as (U1 & U2 & L1 & L2).
  assert (Hg : 0 < group_rows m) by (destruct m; reflexivity).
  assert (Hh0 : 0 < height) by (destruct mj, m; cbn in Hh; lia).
  destruct mj; cbn [atom]; cbv zeta; cbn [value]; intros Hlead Hstride Hstart i k Hi Hk;
    unfold allowed in Hal; destruct Hal as (A1 & A2 & A3).
  - assert (height = 8) as -> by (destruct m; cbn in Hh; lia).
    destruct (next_digit 8 i0 i ltac:(lia) A1) as [-> ->].
    set (L := row_elements e m) in *.
    assert (Hy : exists y, (j0 + k) mod L * 1 + (j0 + k) / L * k_step = j0 mod L * 1 + j0 / L * k_step + y /\
      unit_matches e f K k y).
    { unfold unit_matches, along. rewrite Hab, Hm. cbn [andb].
      destruct (swizzled m) eqn:Sw.
      - exists k. specialize (A3 eq_refl). assert (J := Z.mod_pos_bound j0 L L1).
        assert (Hj := Z.div_mod j0 L ltac:(lia)).
        assert (Hq : (j0 + k) / L = j0 / L) by (symmetry; apply (Z.div_unique _ _ _ (j0 mod L + k)); lia).
        assert (Hr : (j0 + k) mod L = j0 mod L + k) by (symmetry; apply (Z.mod_unique _ _ (j0 / L)); lia).
        rewrite Hq, Hr. split; [ring|]. split; [|discriminate].
        rewrite (Z.div_mod k (per16 e)) at 1 by lia. rewrite Z.mul_add_distr_l, Z.mul_assoc, P3. ring.
      - assert (HL : L = per16 e) by (unfold L, row_elements; destruct m; try discriminate Sw; cbn; lia).
        rewrite HL. destruct (next_digit (per16 e) j0 k P2 A2) as [-> ->].
        assert (J : j0 mod per16 e = 0) by assumption. rewrite J.
        exists (k mod per16 e + k / per16 e * k_step). split; [ring|]. split; [|discriminate].
        destruct Hlead as [Hlead | [_ Hlead]]; [|discriminate]. unfold leading_of in Hlead. rewrite Hlead.
        transitivity (k / per16 e * (2 ^ storage e * k_step) + 2 ^ storage e * (k mod per16 e)); [ring|]. rewrite Ek. ring. }
    destruct Hy as (y & Ey & Hy). rewrite Ey.
    rewrite <- Hm. replace (z + _) with
      (z + (i0 mod 8 * L + i0 / 8 * mn_step + (j0 mod L * 1 + j0 / L * k_step)) + (i mod 8 * L + i / 8 * mn_step + y))
      by (rewrite A1; ring).
    apply word_reads_operand; try assumption. unfold row_matches, across, outer. rewrite Hm, Hstride. cbn [stride_of].
    transitivity (i mod 8 * (2 ^ storage e * L) + i / 8 * (2 ^ storage e * mn_step)); [ring|]. rewrite L2, Emn. ring.
  - set (L := row_elements e m) in *.
    destruct (next_digit L i0 i L1 A1) as [-> ->].
    assert (Hi' : i mod L = per16 e * (i / per16 e mod row_units m) + i mod per16 e /\ i / L = i / per16 e / row_units m).
    { unfold L, row_elements. rewrite Z.rem_mul_r, <- Z.div_div by lia. split; [ring|reflexivity]. }
    destruct Hi' as [Em Ed].
    assert (Hx : exists x, (j0 + k) mod height * L + (j0 + k) / height * k_step
        = j0 mod height * L + j0 / height * k_step + x /\ row_matches e f MN k x).
    { unfold row_matches, across. rewrite Hm, Hstride. unfold stride_of, leading_of in *.
      destruct (next_digit height j0 k Hh0 A2) as [-> ->]. rewrite A2.
      exists (k mod height * L + k / height * k_step). split; [ring|].
      transitivity (k mod height * (2 ^ storage e * L) + k / height * (2 ^ storage e * k_step)); [ring|]. rewrite L2, Ek.
      destruct (Z.eqb_spec height (group_rows m)) as [E | E].
      - rewrite E. destruct (swizzled m); [ring|]. destruct Hlead as [-> | [X _]]; [ring | discriminate X].
      - assert (m = B128_base32 /\ height = 8) as [-> ->] by (destruct m; cbn in Hh, E; try lia; split; [reflexivity|lia]).
        specialize (A3 E). cbn [swizzled bits negb Z.eqb span group_rows].
        rewrite Z.mod_small, Z.div_small by lia. assert (Hk4 := Z.div_mod k 4 ltac:(lia)). lia. }
    destruct Hx as (x & Ex & Hx). rewrite Ex.
    rewrite <- Hm. replace (z + _) with
      (z + (i0 mod L * 1 + i0 / L * mn_step + (j0 mod height * L + j0 / height * k_step))
       + (x + (i mod L + i / L * mn_step))) by (rewrite A1; ring).
    apply word_reads_operand; try assumption. unfold unit_matches, along. rewrite Hab, Hm. split; [|discriminate].
    cbn [inner]. rewrite U2, Em, Ed. rewrite Z.mul_mod_distr_l, Z.div_mul_cancel_l by lia.
    replace (if swizzled m then leading f else stride f) with mn_bytes.
    2: { unfold leading_of, stride_of in *. destruct (swizzled m); [|symmetry; exact Hstride].
         destruct Hlead as [Hlead | [X _]]; [symmetry; exact Hlead | discriminate X]. }
    transitivity (2 ^ storage e * per16 e * (i / per16 e mod row_units m) + 2 ^ storage e * (i mod per16 e)
      + i / per16 e / row_units m * (2 ^ storage e * mn_step)); [ring|]. rewrite P3, Emn. ring.
Qed.

(** ** Closed forms for the tiles of [tile_to_shape] *)

(** Distances between atoms in bytes, along MN and along K. *)
Definition mn_bytes o m height N := match o with MN_first => height * span m | K_first => height * span m * N end.
Definition k_bytes o m height M := match o with MN_first => height * span m * M | K_first => height * span m end.

(** LBO and SBO in bytes. The hardware does not read the LBO of a swizzled K-major operand; CUTLASS and [derive] write 16
    bytes. *)
Definition lbo mj o m height M N :=
  match mj, swizzled m with
  | K, true => 16
  | _, _ => leading_of mj m (mn_bytes o m height N) (k_bytes o m height M)
  end.
Definition sbo mj o m height M N := stride_of mj m height (mn_bytes o m height N) (k_bytes o m height M).

(** The base offset of a tile whose pattern starts at its base: 0 if the pattern starts there for absolute addresses too,
    otherwise the number of the line. *)
Definition alignment m := match m with No_swizzle => 16 | B32 => 256 | B64 => 512 | B128 | B128_base32 => 1024 end.
Definition base_offset_at m base := if base mod alignment m =? 0 then 0 else base / 128 mod 8.

(** The plain offset of an element (i, j) of stage s of a tile of M x N atoms. *)
Definition offset mj e m height o M N stages s i j :=
  let '(rows, columns, stage) := tile_to_shape (atom mj e m height) o M N stages in
  value stage s + (value rows i + value columns j).

(** The fields of the descriptor of the operand that begins at element (i0, j0) of stage s. *)
Definition derived mj e m height o M N stages s base i0 j0 :=
  Fields (base + 2 ^ storage e * offset mj e m height o M N stages s i0 j0 / 8)
         (lbo mj o m height M N) (sbo mj o m height M N) (base_offset_at m base) m false.

Definition mode_exists a m := a = Sm90 -> m <> B128_base32.
Definition in_range a f :=
  0 <= start f < 2 ^ (address_bits a + 4) /\ 0 <= leading f < 2 ^ (address_bits a + 4) /\ 0 <= stride f < 2 ^ 18.

Lemma offset_units : forall mj e m height o M N stages s i0 j0 C, well_formed e ->
  height_allowed mj m height = true -> allowed mj e m height i0 j0 C ->
  exists n, offset mj e m height o M N stages s i0 j0 = per16 e * n.
Proof.
  intros mj e m height o M N stages s i0 j0 C He Hh Ha. destruct (unit_size e He) as (P1 & P2 & P3).
  destruct (row_facts e m He) as (U1 & U2 & L1 & L2). unfold row_elements in *.
  unfold offset, tile_to_shape, allowed, atom in *. unfold row_elements in *.
  set (P := per16 e) in *. set (u := row_units m) in *.
  assert (Hj : forall j, j mod P = 0 -> exists c, j mod (P * u) = P * c).
  { intros j Hj. apply Z.mod_divide in Hj; [|lia]. destruct Hj as [c ->]. exists (c mod u).
    rewrite (Z.mul_comm c P), Z.mul_mod_distr_l by lia. reflexivity. }
  destruct mj; destruct Ha as (A1 & A2 & A3); cbn [value].
  - assert (height = 8) as -> by (destruct m; cbn in Hh; lia). rewrite A1. destruct (Hj j0 A2) as [c Hc]. rewrite Hc.
    destruct o;
      [exists (s * (8 * u * M * N) + i0 / 8 * (8 * u) + c + j0 / (P * u) * (8 * u * M))
      |exists (s * (8 * u * M * N) + i0 / 8 * (8 * u * N) + c + j0 / (P * u) * (8 * u))]; ring.
  - rewrite A1, A2. destruct o;
      [exists (s * (u * height * M * N) + i0 / (P * u) * (u * height) + j0 / height * (u * height * M))
      |exists (s * (u * height * M * N) + i0 / (P * u) * (u * height * N) + j0 / height * (u * height))]; ring.
Qed.

Lemma pattern_at_base : forall m base le sr st, (if swizzled m then base mod 128 = 0 else base mod 16 = 0) ->
  pattern_at (Fields st le sr (base_offset_at m base) m false) base /\ 0 <= base_offset_at m base < 8.
Proof.
  intros m base le sr st H. unfold pattern_at, base_offset_at. cbn [mode Canonical.pattern_at base_offset].
  destruct (Z.eqb_spec (base mod alignment m) 0) as [E | E].
  - split; [|lia]. destruct (swizzled m) eqn:Sw; [|assumption]. split; [assumption|].
    apply Z.mod_divide in E; [|destruct m; discriminate]. destruct E as [c ->].
    destruct m; try discriminate Sw; cbn [alignment bits]; powers.
    + replace (c * 256) with (c * 2 * 128) by ring. rewrite Z.div_mul by lia. replace (0 - c * 2) with ((- c) * 2) by ring. apply Z.mod_mul; lia.
    + replace (c * 512) with (c * 4 * 128) by ring. rewrite Z.div_mul by lia. replace (0 - c * 4) with ((- c) * 4) by ring. apply Z.mod_mul; lia.
    + replace (c * 1024) with (c * 8 * 128) by ring. rewrite Z.div_mul by lia. replace (0 - c * 8) with ((- c) * 8) by ring. apply Z.mod_mul; lia.
    + replace (c * 1024) with (c * 8 * 128) by ring. rewrite Z.div_mul by lia. replace (0 - c * 8) with ((- c * 2) * 4) by ring. apply Z.mod_mul; lia.
  - split; [|apply Z.mod_pos_bound; lia]. destruct (swizzled m) eqn:Sw; [|assumption]. split; [assumption|].
    rewrite (Z.mod_eq _ 8) by lia.
    destruct m; try discriminate Sw; cbn [bits]; powers;
      replace (base / 128 - 8 * (base / 128 / 8) - base / 128) with (- (base / 128 / 8) * 8) by ring.
    + replace (_ * 8) with (- (base / 128 / 8) * 4 * 2) by ring. apply Z.mod_mul; lia.
    + replace (_ * 8) with (- (base / 128 / 8) * 2 * 4) by ring. apply Z.mod_mul; lia.
    + apply Z.mod_mul; lia.
    + replace (_ * 8) with (- (base / 128 / 8) * 2 * 4) by ring. apply Z.mod_mul; lia.
Qed.

Lemma multiple_16 : forall x, (exists n, x = 16 * n) -> x mod 16 = 0.
Proof. intros x [n ->]. rewrite Z.mul_comm. apply Z.mod_mul. lia. Qed.

Lemma bytes_units : forall m height x, exists n, height * span m * x = 16 * n.
Proof.
  intros m height x. assert (Hu : exists u, span m = 16 * u)
    by (destruct m; [exists 1|exists 2|exists 4|exists 8|exists 8]; reflexivity).
  destruct Hu as [u ->]. exists (height * u * x). ring.
Qed.

Lemma lbo_units : forall mj o m height M N, exists n, lbo mj o m height M N = 16 * n.
Proof.
  intros mj o m height M N. unfold lbo, leading_of, mn_bytes, k_bytes.
  destruct (bytes_units m height 1) as [n1 H1]. rewrite Z.mul_1_r in H1.
  destruct mj, (swizzled m), o; try apply bytes_units; try (exists n1; exact H1); exists 1; reflexivity.
Qed.

Lemma sbo_units : forall mj o m height M N, exists n, sbo mj o m height M N = 16 * n.
Proof.
  intros mj o m height M N. unfold sbo, stride_of, mn_bytes, k_bytes.
  destruct (bytes_units m height 1) as [n1 H1]. rewrite Z.mul_1_r in H1.
  destruct mj, (swizzled m), o; try destruct (height =? group_rows m); try apply bytes_units;
    try (exists n1; exact H1); exists (span m / 16 * group_rows m); destruct m; reflexivity.
Qed.

(** The strides of [tile_to_shape] are the distances in bytes. *)
Lemma closed_steps : forall mj e m height o M N stages s, well_formed e ->
  exists mn_step k_step, 2 ^ storage e * mn_step = 8 * mn_bytes o m height N /\
  2 ^ storage e * k_step = 8 * k_bytes o m height M /\
  forall i j, offset mj e m height o M N stages s i j =
    let '((n0, d0), (n1, d1)) := atom mj e m height in
    value (snd (tile_to_shape (atom mj e m height) o M N stages)) s
    + (value [(n0, d0); (M, mn_step)] i + value [(n1, d1); (N, k_step)] j).
Proof.
  intros mj e m height o M N stages s He. destruct (row_facts e m He) as (_ & _ & _ & L2).
  set (whole := height * row_elements e m).
  assert (W : 2 ^ storage e * whole = 8 * (height * span m)).
  { unfold whole. transitivity (height * (2 ^ storage e * row_elements e m)); [ring|]. rewrite L2. ring. }
  exists (match o with MN_first => whole | K_first => whole * N end),
         (match o with MN_first => whole * M | K_first => whole end).
  assert (E : forall x, 2 ^ storage e * (whole * x) = 8 * (height * span m * x)).
  { intros x. rewrite Z.mul_assoc, W. ring. }
  unfold mn_bytes, k_bytes. split; [destruct o; [exact W|apply E]|]. split; [destruct o; [apply E|exact W]|].
  intros i j. unfold offset, tile_to_shape, atom.
  destruct mj; cbn [value snd]; fold whole; rewrite ?(Z.mul_comm (row_elements e m) height); fold whole; destruct o; ring.
Qed.

(** Every derived word reads its operand. It holds for sm90, sm100 and sm107; for both majors, all swizzles and both orders
    of atoms; for every element of 2, 4, 8, 16, ... 128 bits of storage, packed or in 16-byte containers; for all numbers
    of atoms and stages; for every base that is a multiple of a line (of 16 bytes without a swizzle), aligned or not; and
    for every operand that begins and ends where [allowed] says. The fields must be large enough. *)
Theorem every_word_reads_its_tile : forall a e mj m height o M N stages s base i0 j0 R C,
  well_formed e -> mode_exists a m -> height_allowed mj m height = true -> allowed mj e m height i0 j0 C ->
  0 <= i0 -> 0 <= j0 -> (if swizzled m then base mod 128 = 0 else base mod 16 = 0) ->
  let f := derived mj e m height o M N stages s base i0 j0 in
  in_range a f ->
  0 <= encode a f < 2 ^ 64 /\
  forall i k, 0 <= i < R -> 0 <= k < C ->
    read a (encode a f) e mj i k
    = Some (stored e m base (offset mj e m height o M N stages s (i0 + i) (j0 + k))).
Proof.
  intros a e mj m height o M N stages s base i0 j0 R C He Hm Hh Hal Hi0 Hj0 Hbase f (R1 & R2 & R3).
  destruct (offset_units mj e m height o M N stages s i0 j0 C He Hh Hal) as [n Hn].
  destruct (unit_size e He) as (P1 & P2 & P3). destruct (row_facts e m He) as (U1 & U2 & L1 & L2).
  assert (Hbytes : 2 ^ storage e * offset mj e m height o M N stages s i0 j0 = 8 * (16 * n)).
  { rewrite Hn, Z.mul_assoc, P3. ring. }
  assert (Hstart : start f = base + 16 * n) by (unfold f, derived; cbn [start]; rewrite Hbytes, Z.mul_comm, Z.div_mul; lia).
  assert (Hb16 : base mod 16 = 0).
  { destruct (swizzled m); [|assumption]. apply Z.mod_divide in Hbase; [|lia]. destruct Hbase as [c ->].
    replace (c * 128) with (c * 8 * 16) by ring. apply Z.mod_mul; lia. }
  destruct (pattern_at_base m base (lbo mj o m height M N) (sbo mj o m height M N) (start f) Hbase) as [Hp Hbo].
  assert (Hfits : fits a f).
  { unfold fits, address_fits. split; [split; [assumption|]|split; [split; [assumption|]|split; [split; [exact R3|]|]]].
    - rewrite Hstart, Z.add_mod, Hb16, (Z.mul_comm 16), Z.mod_mul by lia. reflexivity.
    - apply multiple_16. apply lbo_units.
    - apply multiple_16. apply sbo_units.
    - split; [exact Hbo|]. intros ->. split; [exact (Hm eq_refl)|reflexivity]. }
  destruct (decode_encode a f Hfits) as [Hd Hrange]. split; [exact Hrange|]. intros i k Hi Hk.
  destruct (closed_steps mj e m height o M N stages s He) as (mn & ks & Emn & Ek & Eo).
  assert (T := atoms_are_read a (encode a f) f e mj m height M N mn ks (mn_bytes o m height N) (k_bytes o m height M)
    base (value (snd (tile_to_shape (atom mj e m height) o M N stages)) s) i0 j0 R C Hd eq_refl eq_refl He Hp Hh Hal
    Hi0 Hj0 Emn Ek).
  rewrite !Eo. destruct (atom mj e m height) as [[n0 d0] [n1 d1]] eqn:Ea. cbv zeta in T.
  apply T with (i := i) (k := k); try assumption.
  - unfold f, derived, lbo. cbn [leading]. destruct mj, (swizzled m) eqn:Sw; try (left; reflexivity).
    right. split; reflexivity.
  - reflexivity.
  - rewrite Hstart. rewrite Eo in Hbytes. rewrite Hbytes. ring.
Qed.
