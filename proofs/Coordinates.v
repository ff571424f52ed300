(** Indices and coordinates of a layout. The laws of the algebra are proved for coordinates and carried to indices.

    Python: [layoutalg.crd2idx] and [layoutalg.idx2crd]. *)

From Coq Require Import ZArith Lia List Permutation.
From LayoutAlg Require Import ReadModel Layouts.
Import ListNotations.
Open Scope Z_scope.

(** A coordinate has one number per mode, below its extent. Numbers of modes without a partner count as 0. *)
Fixpoint inside (l : layout) (xs : list Z) : Prop :=
  match l, xs with [], [] => True | (n, _) :: l, x :: xs => 0 <= x < n /\ inside l xs | _, _ => False end.

(** The index and the offset of a coordinate. *)
Fixpoint index (l : layout) (xs : list Z) : Z :=
  match l, xs with (n, _) :: l, x :: xs => x + n * index l xs | _, _ => 0 end.
Fixpoint dot (l : layout) (xs : list Z) : Z :=
  match l, xs with (_, d) :: l, x :: xs => x * d + dot l xs | _, _ => 0 end.

(** The coordinate of an index. *)
Fixpoint digits (l : layout) (i : Z) : list Z :=
  match l with [] => [] | (n, _) :: l => i mod n :: digits l (i / n) end.

Lemma size_positive : forall l, positive l -> 0 < size l.
Proof. induction l as [|[n d] l IH]; intros H; cbn; [lia|]. inversion H; subst. cbn in *. specialize (IH H3). nia. Qed.

Lemma value_cons : forall n d l i, 0 < n -> (l = [] -> 0 <= i < n) ->
  value ((n, d) :: l) i = i mod n * d + value l (i / n).
Proof.
  intros n d [|m l] i Hn H; [|reflexivity]. specialize (H eq_refl). cbn [value]. rewrite Z.mod_small by lia. ring.
Qed.

Lemma value_zero : forall l, positive l -> value l 0 = 0.
Proof.
  induction l as [|[n d] [|m l] IH]; intros H; inversion H; subst; cbn [value fst] in *; [reflexivity|reflexivity|].
  rewrite Z.mod_0_l, Z.div_0_l, IH by (assumption || lia). reflexivity.
Qed.

Lemma digits_inside : forall l i, positive l -> 0 <= i < size l -> inside l (digits l i).
Proof.
  induction l as [|[n d] l IH]; intros i H Hi; [exact I|]. inversion H; subst. cbn in *.
  split; [apply Z.mod_pos_bound; lia|]. apply IH; [assumption|].
  split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia].
Qed.

Lemma index_digits : forall l i, positive l -> 0 <= i < size l -> index l (digits l i) = i.
Proof.
  induction l as [|[n d] l IH]; intros i H Hi; cbn in *; [lia|]. inversion H; subst. cbn in *. rewrite IH.
  - symmetry. rewrite Z.add_comm. apply Z.div_mod. lia.
  - assumption.
  - split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia].
Qed.

Lemma index_bounds : forall l xs, inside l xs -> 0 <= index l xs < size l.
Proof.
  induction l as [|[n d] l IH]; intros [|x xs] H; cbn in *; try tauto; try lia. destruct H as [H1 H2].
  specialize (IH xs H2). nia.
Qed.

(** The value at an index is the offset of its coordinate, and every coordinate is that of its index. *)
Lemma value_index : forall l xs, inside l xs -> value l (index l xs) = dot l xs.
Proof.
  induction l as [|[n d] l IH]; intros [|x xs] H; cbn [inside] in H; try tauto; try reflexivity. destruct H as [H1 H2].
  cbn [index dot]. assert (B := index_bounds l xs H2).
  rewrite value_cons; [|lia|intros ->; destruct xs; cbn in *; try tauto; lia].
  rewrite (Z.mul_comm n), Z.mod_add, Z.div_add, Z.mod_small, Z.div_small by lia. rewrite Z.add_0_l, IH by assumption.
  reflexivity.
Qed.

Lemma value_digits : forall l i, positive l -> 0 <= i < size l -> value l i = dot l (digits l i).
Proof.
  intros l i H Hi. rewrite <- (index_digits l i H Hi) at 1. apply value_index, digits_inside; assumption.
Qed.

Lemma index_injective : forall l xs ys, inside l xs -> inside l ys -> index l xs = index l ys -> xs = ys.
Proof.
  induction l as [|[n d] l IH]; intros [|x xs] [|y ys] Hx Hy E; cbn in *; try tauto.
  destruct Hx as [X1 X2], Hy as [Y1 Y2].
  destruct (Z.div_mod_unique n (index l xs) (index l ys) x y); [lia|lia|lia|]. f_equal; [assumption|]. apply IH; assumption.
Qed.

(** ** Modes with the weight of their index, in any order *)

(** (extent, stride, weight): the weight is the product of the extents of the modes before. *)
Fixpoint weighted (w : Z) (l : layout) : list (Z * Z * Z) :=
  match l with [] => [] | (n, d) :: l => (n, d, w) :: weighted (w * n) l end.

Definition sum_of (f : Z * Z * Z -> Z) (terms : list ((Z * Z * Z) * Z)) :=
  fold_right (fun t total => snd t * f (fst t) + total) 0 terms.
Definition stride_sum := sum_of (fun t => snd (fst t)).
Definition weight_sum := sum_of snd.
Definition all_inside (terms : list ((Z * Z * Z) * Z)) := Forall (fun t => 0 <= snd t < fst (fst (fst t))) terms.

Lemma sum_permutation : forall f s t, Permutation s t -> sum_of f s = sum_of f t.
Proof. intros f s t H. induction H; unfold sum_of in *; cbn; lia. Qed.

Lemma sum_app : forall f s t, sum_of f (s ++ t) = sum_of f s + sum_of f t.
Proof. intros f s t. induction s as [|x s IH]; unfold sum_of in *; cbn; [reflexivity|]. rewrite IH. ring. Qed.

Lemma weighted_terms : forall l w xs, inside l xs ->
  exists terms, map fst terms = weighted w l /\ map snd terms = xs /\ all_inside terms /\
    stride_sum terms = dot l xs /\ weight_sum terms = w * index l xs.
Proof.
  induction l as [|[n d] l IH]; intros w [|x xs] H; cbn in H; try tauto.
  - exists []. cbn. repeat split; try constructor; try reflexivity. cbn. lia.
  - destruct H as [H1 H2]. destruct (IH (w * n) xs H2) as (ts & M & X & A & S & W).
    exists (((n, d, w), x) :: ts). cbn. rewrite M, X. repeat split; try reflexivity.
    + constructor; [exact H1|exact A].
    + unfold stride_sum, sum_of in *. cbn in *. rewrite S. reflexivity.
    + unfold weight_sum, sum_of in *. cbn in *. rewrite W. ring.
Qed.

Lemma terms_inside : forall l w terms, map fst terms = weighted w l -> all_inside terms -> inside l (map snd terms).
Proof.
  induction l as [|[n d] l IH]; intros w [|[t x] ts] M A; cbn in M; try discriminate; [exact I|].
  injection M as -> M. inversion A; subst. cbn in *. split; [assumption|]. apply (IH (w * n)); assumption.
Qed.

Lemma value_terms : forall l terms, map fst terms = weighted 1 l -> all_inside terms ->
  value l (weight_sum terms) = stride_sum terms /\ 0 <= weight_sum terms < size l.
Proof.
  intros l terms M A. assert (Hi := terms_inside l 1 terms M A).
  destruct (weighted_terms l 1 (map snd terms) Hi) as (ts & M' & X & A' & S & W).
  assert (ts = terms) as ->.
  { clear - M M' X. rewrite <- M in M'. clear M. revert ts M' X.
    induction terms as [|[a b] terms IH]; intros [|[c d] ts] M X; cbn in *; try discriminate; [reflexivity|].
    injection M as -> M. injection X as -> X. f_equal. apply IH; assumption. }
  rewrite Z.mul_1_l in W. rewrite W, S. split; [apply value_index; assumption|apply index_bounds; assumption].
Qed.
