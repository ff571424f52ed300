(** The five steps of a derivation, for layouts with numbers, and the theorem that their result is right: the words with
    this LBO, this SBO and these start addresses read the tile. The layout is arbitrary; it need not consist of atoms.

    Python: [descriptors/smem/derivation/steps.py], [partition] and [in_16_bytes] in [descriptors/smem/operands/match.py],
    and [match_form] in [descriptors/smem/operands/canonical.py]. Step 1 is [tile_to_shape] in [Layouts.v], or any layout.
    A test compares the result of this function with [derive] on random tiles. *)

From Coq Require Import ZArith Lia Bool List.
From LayoutAlg Require Import Bits ReadModel Canonical IgnoredBits Layouts Coordinates Coalesce Composition.
Import ListNotations.
Open Scope Z_scope.

Notation "'let?' x ':=' e 'in' f" := (match e with Some x => f | None => None end)
  (at level 200, x pattern, e at level 200, f at level 200).

(** Divide a mode at n, as [logical_divide] does: the first n indices, and the steps from one such part to the next. *)
Definition divide (l : layout) n : option (layout * layout) :=
  if (0 <? n) && (size l mod n =? 0) then
    let? part := compose_mode l n 1 in let? rest := compose_mode l (size l / n) n in Some (part, rest)
  else None.

(** Count in units of P elements, as [recast_layout] does. The contiguous mode must begin with whole units, and all other
    strides must be multiples of a unit. *)
Fixpoint divide_strides P (l : layout) : option layout :=
  match l with
  | [] => Some []
  | (n, d) :: l => let? l := divide_strides P l in if d mod P =? 0 then Some ((n, d / P) :: l) else None
  end.
Definition recast_contiguous P (l : layout) : option layout :=
  match coalesce l with
  | (n, 1) :: l => let? l := divide_strides P l in if n mod P =? 0 then Some ((n / P, 1) :: l) else None
  | _ => None
  end.
Definition recast_others P l := divide_strides P (coalesce l).

(** A mode with a single stride. A mode of one element has stride 0. *)
Definition single (l : layout) : option (Z * Z) :=
  match coalesce l with [] => Some (1, 0) | [m] => Some m | _ => None end.

(** Split a mode into (chunk, rest), each with a single stride: the two strides. *)
Definition canonical_mode (l : layout) chunk : option ((Z * Z) * (Z * Z)) :=
  let? (part, rest) := divide l (Z.min (size l) chunk) in
  let? part := single part in let? rest := single rest in Some (part, rest).

(** The chunk of a canonical form along the contiguous dimension and across it, in 16-byte units and rows. *)
Definition inner_chunk mj m := match mj with K => 1 | MN => if swizzled m then row_units m else 1 end.
Definition outer_chunk mj m := match mj with K => 8 | MN => group_rows m end.

Definition fixed (stride : Z) (m : Z * Z) : bool := (fst m =? 1) || (snd m =? stride).

Record result := Result {
  lbo_units : Z; sbo_units : Z;  (** in 16-byte units *)
  advance_rows : layout; advance_columns : layout  (** from a subtile to its offset, in 16-byte units *) }.

Definition five_steps mj e m (rows columns : layout) R C : option result :=
  (* 2: the operand of one instruction, and the subtiles *)
  let? (A, more_rows) := divide rows R in
  let? (B, more_columns) := divide columns C in
  (* 3: 16-byte units *)
  let P := per16 e in
  let? inner := recast_contiguous P (match mj with K => B | MN => A end) in
  let? outer := recast_others P (match mj with K => A | MN => B end) in
  let? more_rows := divide_strides P more_rows in
  let? more_columns := divide_strides P more_columns in
  (* 4: the canonical form *)
  let? (unit, units) := canonical_mode inner (inner_chunk mj m) in
  let? (row, groups) := canonical_mode outer (outer_chunk mj m) in
  if fixed (row_units m) row && fixed 1 unit && (match mj with K => negb (swizzled m) || fixed 1 units | MN => true end) then
    let '(leading, stride) := match mj, swizzled m with MN, false => (groups, units) | _, _ => (units, groups) end in
    (* 5: the advance *)
    Some (Result (snd leading) (snd stride) more_rows more_columns)
  else None.

(** ** Each step keeps the offsets *)

Lemma parts_add : forall l k n r, positive l -> 0 < n -> compose_mode l k n = Some r ->
  forall x i, 0 <= x -> 0 <= i < n -> value l (x * n + i) = value l (x * n) + value l i.
Proof.
  induction l as [|[s t] l IH]; intros k n r Hl Hn E x i Hx Hi; [discriminate|].
  inversion Hl as [|? ? Hs Hl']; subst. cbn in Hs. destruct l as [|m l]; [cbn [value]; ring|].
  set (rest := m :: l) in *.
  change ((if n mod s =? 0 then compose_mode rest k (n / s) else if s mod n =? 0 then
      if k <=? s / n then Some [(k, n * t)]
      else if k mod (s / n) =? 0 then option_map (cons (s / n, n * t)) (compose_mode rest (k / (s / n)) 1) else None
    else None) = Some r) in E.
  assert (V : forall y, value ((s, t) :: rest) y = y mod s * t + value rest (y / s)) by reflexivity. rewrite !V.
  clearbody rest. clear V. destruct (Z.eqb_spec (n mod s) 0) as [D | D].
  - apply Z.mod_divide in D; [|lia]. destruct D as [c ->]. rewrite Z.div_mul in E by lia.
    rewrite Z.mul_assoc. rewrite Z.mod_mul, Z.div_mul by lia.
    rewrite (Z.add_comm (x * c * s)), Z.mod_add, Z.div_add by lia. rewrite (Z.add_comm (i / s)).
    rewrite (IH k c r Hl' ltac:(nia) E x (i / s) Hx); [ring|].
    split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia].
  - destruct (Z.eqb_spec (s mod n) 0) as [D' | D']; [|discriminate].
    apply Z.mod_divide in D'; [|lia]. destruct D' as [c ->]. assert (Hc : 0 < c) by nia.
    rewrite (Z.mul_comm c n). rewrite !Z.rem_mul_r, <- !Z.div_div by lia.
    rewrite !(Z.add_comm (x * n)), !Z.mod_add, !Z.div_add by lia. rewrite Z.mod_mul, Z.div_mul by lia.
    rewrite (Z.mod_small i), (Z.div_small i), Z.add_0_l by lia. rewrite (Z.mod_small 0), (Z.div_0_l c) by lia.
    rewrite value_zero by assumption. ring.
Qed.

Lemma divide_spec : forall l n part rest, positive l -> divide l n = Some (part, rest) ->
  0 < n /\ positive part /\ size part = n /\ positive rest /\ size rest * n = size l /\
  (forall i, 0 <= i < n -> value part i = value l i) /\
  (forall x i, 0 <= x < size rest -> 0 <= i < n -> value l (x * n + i) = value rest x + value part i).
Proof.
  intros l n part rest Hl E. unfold divide in E. destruct (Z.ltb_spec 0 n) as [Hn|]; [|discriminate].
  destruct (Z.eqb_spec (size l mod n) 0) as [D|]; [|discriminate]. cbn [andb] in E.
  destruct (compose_mode l n 1) as [a|] eqn:Ea; [|discriminate].
  destruct (compose_mode l (size l / n) n) as [b|] eqn:Eb; [|discriminate]. injection E as -> ->.
  assert (Sl := size_positive l Hl). apply Z.mod_divide in D; [|lia]. destruct D as [c Hc].
  rewrite Hc, Z.div_mul in Eb by lia. assert (Hc' : 0 < c) by nia.
  destruct (compose_mode_law l n 1 part Hl Hn ltac:(lia) Ea) as (P1 & S1 & V1).
  destruct (compose_mode_law l c n rest Hl Hc' ltac:(lia) Eb) as (P2 & S2 & V2).
  assert (V : forall i, 0 <= i < n -> value part i = value l i) by (intros; rewrite V1, Z.mul_1_r by assumption; reflexivity).
  repeat split; try assumption; try lia.
  intros x i Hx Hi. rewrite S2 in Hx. rewrite (parts_add l c n rest Hl Hn Eb) by lia. rewrite V2, V by assumption.
  reflexivity.
Qed.

Lemma value_more : forall n d l i, l <> [] -> value ((n, d) :: l) i = i mod n * d + value l (i / n).
Proof. intros n d [|m l] i H; [contradiction H; reflexivity|reflexivity]. Qed.

Lemma divide_strides_spec : forall P l l', 0 < P -> divide_strides P l = Some l' ->
  (l = [] <-> l' = []) /\ (positive l -> positive l') /\ size l' = size l /\ forall i, value l i = P * value l' i.
Proof.
  intros P. induction l as [|[n d] l IH]; intros l' HP E; cbn [divide_strides] in E.
  - injection E as <-. repeat split; auto. intros; cbn; ring.
  - destruct (divide_strides P l) as [q|]; [|discriminate]. destruct (Z.eqb_spec (d mod P) 0) as [D|]; [|discriminate].
    injection E as <-. apply Z.mod_divide in D; [|lia]. destruct D as [c ->]. rewrite Z.div_mul by lia.
    destruct (IH q HP eq_refl) as (N & Q & S & V). repeat split; try discriminate.
    + intros H. inversion H; subst. constructor; [assumption|apply Q; assumption].
    + cbn. rewrite S. reflexivity.
    + intros i. destruct l as [|m l].
      * rewrite (proj1 N eq_refl). cbn [value]. ring.
      * rewrite !value_more by (discriminate || (intros X; discriminate (proj2 N X))). rewrite V. ring.
Qed.

Lemma recast_contiguous_spec : forall P l l', 0 < P -> positive l -> recast_contiguous P l = Some l' ->
  positive l' /\ size l = P * size l' /\
  forall i, 0 <= i < size l -> value l i = P * value l' (i / P) + i mod P.
Proof.
  intros P l l' HP Hl E. unfold recast_contiguous in E. destruct (coalesce_law l Hl) as (Pc & Sc & Vc).
  destruct (coalesce l) as [|[n [|[d|d|]|d]] q]; try discriminate.
  destruct (divide_strides P q) as [q'|] eqn:Eq; [|discriminate].
  destruct (Z.eqb_spec (n mod P) 0) as [D|]; [|discriminate]. injection E as <-.
  inversion Pc as [|? ? Hn Hq]; subst. cbn in Hn.
  apply Z.mod_divide in D; [|lia]. destruct D as [c ->]. rewrite Z.div_mul by lia. assert (Hc : 0 < c) by nia.
  destruct (divide_strides_spec P q q' HP Eq) as (N & Q & S & V).
  split; [constructor; [exact Hc|exact (Q Hq)]|]. cbn [size] in *. split; [rewrite <- Sc, S; ring|].
  intros i Hi. rewrite <- Vc by assumption. destruct q as [|m q].
  - rewrite (proj1 N eq_refl). cbn [value]. assert (X := Z.div_mod i P ltac:(lia)). lia.
  - rewrite !value_more by (discriminate || (intros X; discriminate (proj2 N X))). rewrite V.
    rewrite (Z.mul_comm c P), Z.rem_mul_r, <- Z.div_div by lia. ring.
Qed.

Lemma recast_others_spec : forall P l l', 0 < P -> positive l -> recast_others P l = Some l' ->
  positive l' /\ size l' = size l /\ forall i, 0 <= i < size l -> value l i = P * value l' i.
Proof.
  intros P l l' HP Hl E. unfold recast_others in E. destruct (coalesce_law l Hl) as (Pc & Sc & Vc).
  destruct (divide_strides_spec P (coalesce l) l' HP E) as (_ & Q & S & V).
  split; [auto|]. split; [congruence|]. intros i Hi. rewrite <- Vc by assumption. apply V.
Qed.

Lemma single_spec : forall l n d, positive l -> single l = Some (n, d) ->
  n = size l /\ forall i, 0 <= i < size l -> value l i = i * d.
Proof.
  intros l n d Hl E. unfold single in E. destruct (coalesce_law l Hl) as (Pc & Sc & Vc).
  destruct (coalesce l) as [|m [|m' q]]; try discriminate.
  - injection E as <- <-. cbn in Sc. split; [assumption|]. intros i Hi. rewrite <- Vc by assumption. cbn. lia.
  - injection E as ->. cbn in Sc. split; [lia|]. intros i Hi. rewrite <- Vc by assumption. reflexivity.
Qed.

(** In canonical form, an index is a place in its chunk and the number of the chunk. The chunk may be larger than the
    operand. *)
Lemma canonical_mode_spec : forall l chunk n d N D, positive l -> 0 < chunk ->
  canonical_mode l chunk = Some ((n, d), (N, D)) ->
  forall i, 0 <= i < size l -> value l i = i mod chunk * d + i / chunk * D /\
    (n = 1 -> i mod chunk = 0) /\ (N = 1 -> i / chunk = 0).
Proof.
  intros l chunk n d N D Hl Hc E i Hi. unfold canonical_mode in E.
  destruct (divide l (Z.min (size l) chunk)) as [[part rest]|] eqn:Ed; [|discriminate].
  destruct (single part) as [[n' d']|] eqn:E1; [|discriminate].
  destruct (single rest) as [[N' D']|] eqn:E2; [|discriminate]. injection E as -> -> -> ->.
  destruct (divide_spec _ _ _ _ Hl Ed) as (C0 & P1 & S1 & P2 & S2 & V1 & V2).
  destruct (single_spec part n d P1 E1) as (N1 & W1). destruct (single_spec rest N D P2 E2) as (N2 & W2).
  assert (sizes : (size l <= chunk /\ Z.min (size l) chunk = size l) \/ (chunk < size l /\ Z.min (size l) chunk = chunk)) by lia.
  destruct sizes as [[L M] | [L M]]; rewrite M in *.
  - assert (size rest = 1) by (assert (0 < size rest) by (apply size_positive; assumption); nia).
    rewrite (Z.mod_small i), (Z.div_small i) by lia. rewrite <- V1, W1 by lia. split; [ring|]. split; [lia|reflexivity].
  - assert (Hq : 0 <= i / chunk < size rest) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    assert (Hr : 0 <= i mod chunk < chunk) by (apply Z.mod_pos_bound; lia).
    rewrite (Z.div_mod i chunk) at 1 by lia. rewrite (Z.mul_comm chunk), V2, W1, W2 by lia.
    split; [ring|]. split; lia.
Qed.

Lemma fixed_spec : forall stride n d, fixed stride (n, d) = true -> n = 1 \/ d = stride.
Proof. intros stride n d H. unfold fixed in H. cbn in H. apply orb_true_iff in H. destruct H as [H | H]; apply Z.eqb_eq in H; auto. Qed.

(** ** The theorem *)

(** Let the five steps of a tile have a result, and let a word have its LBO and SBO, where the word reads them, and the
    start address of subtile (x, y): the address p of the tile, 16 z bytes (of a stage), and the advance. Then the word reads
    each element of the subtile from where the tile stores it. *)
Theorem five_steps_are_right : forall a w f e mj rows columns R C s p z,
  well_formed e -> positive rows -> positive columns ->
  five_steps mj e (mode f) rows columns R C = Some s ->
  decode a w = Some f -> absolute f = false -> pattern_at f p ->
  (reads_leading (mode f) mj e R C = true -> leading f = 16 * lbo_units s) ->
  (reads_stride (mode f) mj e R C = true -> stride f = 16 * sbo_units s) ->
  forall x y, 0 <= x < size (advance_rows s) -> 0 <= y < size (advance_columns s) ->
  start f = p + 16 * (z + (value (advance_rows s) x + value (advance_columns s) y)) ->
  forall i k, 0 <= i < R -> 0 <= k < C ->
  read a w e mj i k
  = Some (stored e (mode f) p (per16 e * z + (value rows (x * R + i) + value columns (y * C + k)))).
Proof.
  intros a w f e mj rows columns R C s p z He Hrows Hcols E Hd Hab Hp Hl Hs x y Hx Hy Hst i k Hi Hk.
  destruct (unit_size e He) as (U1 & U2 & U3).
  unfold five_steps in E.
  destruct (divide rows R) as [[A restA]|] eqn:EA; [|discriminate].
  destruct (divide columns C) as [[B restB]|] eqn:EB; [|discriminate].
  destruct (recast_contiguous _ _) as [inner_units|] eqn:Ei; [|discriminate].
  destruct (recast_others _ _) as [outer_rows|] eqn:Eo; [|discriminate].
  destruct (divide_strides _ restA) as [advA|] eqn:EadvA; [|discriminate].
  destruct (divide_strides _ restB) as [advB|] eqn:EadvB; [|discriminate].
  destruct (canonical_mode inner_units _) as [[[n1 d1] [N1 D1]]|] eqn:C1; [|discriminate].
  destruct (canonical_mode outer_rows _) as [[[n2 d2] [N2 D2]]|] eqn:C2; [|discriminate].
  destruct (fixed (row_units (mode f)) (n2, d2)) eqn:F1; [|discriminate].
  destruct (fixed 1 (n1, d1)) eqn:F2; [|discriminate]. cbn [andb] in E.
  destruct (match mj with K => _ | MN => true end) eqn:F3; [|discriminate].
  apply fixed_spec in F1, F2.
  destruct (divide_spec _ _ _ _ Hrows EA) as (R0 & PA & SA & PrA & SrA & VA & addA).
  destruct (divide_spec _ _ _ _ Hcols EB) as (C0 & PB & SB & PrB & SrB & VB & addB).
  destruct (divide_strides_spec _ _ _ U2 EadvA) as (_ & _ & SadvA & VadvA).
  destruct (divide_strides_spec _ _ _ U2 EadvB) as (_ & _ & SadvB & VadvB).
  assert (Eadv : advance_rows s = advA /\ advance_columns s = advB)
    by (destruct mj, (swizzled (mode f)); injection E as <-; auto).
  destruct Eadv as [Er Ec]. rewrite Er, SadvA in Hx. rewrite Ec, SadvB in Hy. rewrite Er, Ec in Hst.
  rewrite addA, addB by assumption.
  set (f0 := Fields (start f) (16 * lbo_units s) (16 * sbo_units s) (base_offset f) (mode f) false).
  destruct (same_along f f0 e mj i k R C He Hi Hk Hab eq_refl eq_refl Hl Hs) as [Ealong Eacross].
  replace (per16 e * z + _) with
    (per16 e * z + (value restA x + value restB y) + (value A i + value B k)) by ring.
  assert (Hrow : 0 < row_units (mode f) /\ span (mode f) = 16 * row_units (mode f))
    by (destruct (mode f); cbn; lia). destruct Hrow as [Hu Hspan].
  assert (Hg : 0 < group_rows (mode f)) by (destruct (mode f); reflexivity).
  assert (match_all : exists gx gy, value A i + value B k = gx + gy /\
    row_matches e f mj (outer mj i k) gx /\ unit_matches e f mj (inner mj i k) gy).
  { unfold row_matches, unit_matches. rewrite Ealong, Eacross, Hab.
    destruct mj; cbn [inner outer inner_chunk outer_chunk] in *.
    - destruct (recast_contiguous_spec _ _ _ U2 PB Ei) as (Pi & Si & Vi).
      destruct (recast_others_spec _ _ _ U2 PA Eo) as (Po & So & Vo).
      exists (value A i), (value B k). split; [reflexivity|]. split; [|split; [|discriminate]].
      + destruct (canonical_mode_spec outer_rows 8 n2 d2 N2 D2 Po ltac:(lia) C2 i ltac:(lia)) as (V2 & Z2 & Z2').
        rewrite Vo, V2 by lia. rewrite Z.mul_assoc, U3. unfold across. cbn [f0 mode stride].
        rewrite Hspan. replace (sbo_units s) with D2 by (destruct (swizzled (mode f)); injection E as <-; reflexivity).
        destruct F1 as [F1 | F1]; [rewrite (Z2 F1); ring | rewrite F1; ring].
      + assert (Hq : 0 <= k / per16 e < size inner_units)
          by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
        destruct (canonical_mode_spec inner_units 1 n1 d1 N1 D1 Pi ltac:(lia) C1 (k / per16 e) Hq) as (V1 & Z1 & Z1').
        rewrite Z.mod_1_r, Z.div_1_r in V1. rewrite Z.div_1_r in Z1'. rewrite Vi, V1 by lia.
        rewrite Z.mul_add_distr_l, Z.mul_assoc, U3. unfold along. cbn [f0 mode leading absolute].
        destruct (swizzled (mode f)).
        * cbn [negb orb] in F3. apply fixed_spec in F3. destruct F3 as [F3 | F3]; [rewrite (Z1' F3); ring|rewrite F3; ring].
        * replace (lbo_units s) with D1 by (injection E as <-; reflexivity). ring.
    - destruct (recast_contiguous_spec _ _ _ U2 PA Ei) as (Pi & Si & Vi).
      destruct (recast_others_spec _ _ _ U2 PB Eo) as (Po & So & Vo).
      exists (value B k), (value A i). split; [ring|]. split; [|split; [|discriminate]].
      + destruct (canonical_mode_spec _ _ _ _ _ _ Po Hg C2 k ltac:(lia)) as (V2 & Z2 & Z2').
        rewrite Vo, V2 by lia. rewrite Z.mul_assoc, U3. unfold across. cbn [f0 mode stride leading].
        rewrite Hspan.
        replace (if swizzled (mode f) then 16 * sbo_units s else 16 * lbo_units s) with (16 * D2)
          by (destruct (swizzled (mode f)); injection E as <-; reflexivity).
        destruct F1 as [F1 | F1]; [rewrite (Z2 F1); ring | rewrite F1; ring].
      + assert (Hq : 0 <= i / per16 e < size inner_units)
          by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
        assert (Hchunk : (if swizzled (mode f) then row_units (mode f) else 1) = row_units (mode f))
          by (destruct (mode f); reflexivity).
        rewrite Hchunk in C1.
        destruct (canonical_mode_spec _ _ _ _ _ _ Pi Hu C1 (i / per16 e) Hq) as (V1 & Z1 & Z1').
        rewrite Vi, V1 by lia.
        rewrite Z.mul_add_distr_l, Z.mul_assoc, U3. unfold along. cbn [f0 mode leading stride absolute].
        rewrite Hspan, Z.mul_mod_distr_l, Z.div_mul_cancel_l by lia.
        replace (if swizzled (mode f) then 16 * lbo_units s else 16 * sbo_units s) with (16 * D1)
          by (destruct (swizzled (mode f)); injection E as <-; reflexivity).
        destruct F2 as [F2 | F2]; [rewrite (Z1 F2); ring | rewrite F2; ring]. }
  destruct match_all as (gx & gy & -> & Mx & My).
  apply word_reads_operand; try assumption.
  rewrite Hst, VadvA, VadvB. transitivity (2 ^ storage e * per16 e * (z + (value advA x + value advB y))); [|ring].
  rewrite U3. ring.
Qed.
