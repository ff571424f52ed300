(** [complement]: the layout of the offsets between and beyond those of a layout. All sums of the two differ; if each
    stride is a multiple of the period below it, the sums are all offsets.

    Python: [layoutalg/algebra/complement.py]. *)

From Coq Require Import ZArith Lia List.
From LayoutAlg Require Import ReadModel Layouts Coordinates.
Import ListNotations.
Open Scope Z_scope.

(** Modes sorted by stride. The period p is a bound of all sums of the modes below. The last mode of the complement has as
    many periods as are needed to reach the target. *)
Fixpoint complement_from (p : Z) (l : layout) (target : Z) : layout :=
  match l with
  | [] => [((target + p - 1) / p, p)]
  | (n, d) :: l => (d / p, p) :: complement_from (n * d) l target
  end.
Definition complement := complement_from 1.

(** The condition of the project: each stride, sorted, is at least the period of the modes below it. *)
Fixpoint spread (p : Z) (l : layout) : Prop :=
  match l with [] => 0 < p | (n, d) :: l => 0 < p <= d /\ 0 < n /\ spread (n * d) l end.

(** The condition for a complement without holes: it is also a multiple of that period. *)
Fixpoint whole (p : Z) (l : layout) : Prop :=
  match l with [] => True | (n, d) :: l => d mod p = 0 /\ whole (n * d) l end.

Lemma complement_positive : forall l p target, 0 < target -> spread p l ->
  positive l /\ positive (complement_from p l target).
Proof.
  induction l as [|[n d] l IH]; intros p target Ht H; cbn in *.
  - split; [constructor|]. constructor; [|constructor]. cbn. apply Z.div_str_pos. lia.
  - destruct H as ([H1 H2] & H3 & H4). destruct (IH _ _ Ht H4) as [P Q]. split.
    + constructor; [exact H3|exact P].
    + constructor; [|exact Q]. cbn. apply Z.div_str_pos. lia.
Qed.

(** All sums differ, also with a number r below the period added. *)
Lemma sums_differ : forall l p target, 0 < target -> spread p l -> forall r r' xs xs' ys ys',
  0 <= r < p -> 0 <= r' < p ->
  inside l xs -> inside l xs' -> inside (complement_from p l target) ys -> inside (complement_from p l target) ys' ->
  r + dot l xs + dot (complement_from p l target) ys = r' + dot l xs' + dot (complement_from p l target) ys' ->
  r = r' /\ xs = xs' /\ ys = ys'.
Proof.
  induction l as [|[n d] l IH]; intros p target Ht H r r' xs xs' ys ys' Hr Hr' Hx Hx' Hy Hy' E.
  - destruct xs, xs'; cbn in Hx, Hx'; try tauto. cbn [complement_from] in *.
    destruct ys as [|y [|? ?]], ys' as [|y' [|? ?]]; cbn in Hy, Hy'; try tauto. cbn [dot] in E.
    destruct (Z.div_mod_unique p y y' r r') as [-> ->]; try lia. auto.
  - destruct H as ([H1 H2] & H3 & H4). cbn [complement_from] in *.
    destruct xs as [|x xs], xs' as [|x' xs'], ys as [|y ys], ys' as [|y' ys']; cbn in Hx, Hx', Hy, Hy'; try tauto.
    destruct Hx as [X1 X2], Hx' as [X1' X2'], Hy as [Y1 Y2], Hy' as [Y1' Y2']. cbn [dot] in E.
    assert (below : p * (d / p) <= d) by (apply Z.mul_div_le; lia).
    assert (A : 0 <= r + y * p < d) by nia. assert (A' : 0 <= r' + y' * p < d) by nia.
    destruct (IH (n * d) target Ht H4 (r + y * p + x * d) (r' + y' * p + x' * d) xs xs' ys ys') as (B & -> & ->);
      try assumption; [nia|nia|lia|].
    destruct (Z.div_mod_unique d x x' (r + y * p) (r' + y' * p)) as [-> C]; try lia.
    destruct (Z.div_mod_unique p y y' r r') as [-> ->]; try lia. auto.
Qed.

(** The law of disjointness: two different pairs of indices have different sums. *)
Theorem complement_disjoint : forall l target, 0 < target -> spread 1 l ->
  forall i j i' j', 0 <= i < size l -> 0 <= i' < size l ->
  0 <= j < size (complement l target) -> 0 <= j' < size (complement l target) ->
  value l i + value (complement l target) j = value l i' + value (complement l target) j' -> i = i' /\ j = j'.
Proof.
  intros l target Ht H i j i' j' Hi Hi' Hj Hj' E. destruct (complement_positive l 1 target Ht H) as [P Q].
  fold (complement l target) in Q.
  rewrite (value_digits l i), (value_digits l i'), (value_digits _ j), (value_digits _ j') in E by assumption.
  destruct (sums_differ l 1 target Ht H 0 0 (digits l i) (digits l i') (digits (complement l target) j)
    (digits (complement l target) j')) as (_ & X & Y); try (apply digits_inside; assumption); try lia; [exact E|].
  rewrite <- (index_digits l i), <- (index_digits l i'), X, <- (index_digits (complement l target) j),
    <- (index_digits (complement l target) j'), Y by assumption. split; reflexivity.
Qed.

(** Without holes, each number below the target is reached: a multiple of the period by the modes above it. *)
Lemma sums_reach : forall l p target, 0 < target -> spread p l -> whole p l -> forall v, 0 <= p * v < target ->
  exists xs ys, inside l xs /\ inside (complement_from p l target) ys /\
    dot l xs + dot (complement_from p l target) ys = p * v.
Proof.
  induction l as [|[n d] l IH]; intros p target Ht H W v Hv; cbn [complement_from] in *.
  - exists [], [v]. cbn in *. assert (D := Z.div_mod (target + p - 1) p ltac:(lia)).
    assert (M := Z.mod_pos_bound (target + p - 1) p H). repeat split; nia.
  - destruct H as ([H1 H2] & H3 & H4). destruct W as [W1 W2]. apply Z.mod_divide in W1; [|lia]. destruct W1 as [q ->].
    rewrite Z.div_mul by lia. assert (Hq : 0 < q) by nia.
    assert (D := Z.div_mod v q ltac:(lia)). assert (M := Z.mod_pos_bound v q Hq).
    assert (D' := Z.div_mod (v / q) n ltac:(lia)). assert (M' := Z.mod_pos_bound (v / q) n H3).
    set (u := v / q) in *. set (t := u / n) in *.
    assert (0 <= u) by (apply Z.div_pos; nia). assert (0 <= t) by (apply Z.div_pos; lia).
    assert (bound : n * (q * p) * t <= p * v) by nia.
    destruct (IH (n * (q * p)) target Ht H4 W2 t) as (xs & ys & X & Y & E); [split; [nia|lia]|].
    exists (u mod n :: xs), (v mod q :: ys). cbn [inside dot]. repeat split; try assumption; try lia.
Qed.

(** The law of coverage: each number below the target is a sum, and by the law above of one pair only. *)
Theorem complement_covers : forall l target, 0 < target -> spread 1 l -> whole 1 l ->
  forall v, 0 <= v < target -> exists i j, 0 <= i < size l /\ 0 <= j < size (complement l target) /\
    value l i + value (complement l target) j = v.
Proof.
  intros l target Ht H W v Hv. destruct (sums_reach l 1 target Ht H W v) as (xs & ys & X & Y & E); [lia|].
  exists (index l xs), (index (complement l target) ys). unfold complement in *.
  rewrite !value_index by assumption. repeat split; try (apply index_bounds; assumption). lia.
Qed.
