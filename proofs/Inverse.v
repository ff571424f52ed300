(** [right_inverse] and [left_inverse].

    Python: [layoutalg/algebra/inverse.py]. Both functions collect the modes of a layout in the order of their strides; a
    mode is (extent, stride, weight), where the weight is what its coordinate adds to the index. *)

From Coq Require Import ZArith Lia List Permutation.
From LayoutAlg Require Import ReadModel Layouts Coordinates.
Import ListNotations.
Open Scope Z_scope.

(** ** The right inverse *)

(** Modes whose strides continue one another: the first is 1, each further one is the stride times the extent before. *)
Fixpoint chain (stride : Z) (modes : list (Z * Z * Z)) : Prop :=
  match modes with [] => True | (n, d, _) :: modes => d = stride /\ 0 < n /\ chain (stride * n) modes end.

(** The result has the extents of the chain, and the weights as strides. *)
Definition of_chain (modes : list (Z * Z * Z)) : layout := map (fun t => (fst (fst t), snd t)) modes.

Lemma chain_terms : forall modes stride, chain stride modes -> forall i, 0 <= i < size (of_chain modes) ->
  exists terms, map fst terms = modes /\ all_inside terms /\
    stride_sum terms = stride * i /\ weight_sum terms = value (of_chain modes) i.
Proof.
  induction modes as [|[[n d] w] modes IH]; intros stride H i Hi.
  - exists []. cbn in *. split; [reflexivity|]. split; [constructor|].
    assert (i = 0) as -> by lia. unfold stride_sum, weight_sum, sum_of. cbn. lia.
  - cbn [chain] in H. destruct H as (-> & Hn & H). cbn [of_chain map fst snd size] in Hi. fold (of_chain modes) in Hi.
    destruct (IH (stride * n) H (i / n)) as (ts & M & A & S & W).
    { split; [apply Z.div_pos; nia|apply Z.div_lt_upper_bound; nia]. }
    exists (((n, stride, w), i mod n) :: ts). cbn [map fst]. rewrite M. split; [reflexivity|]. split.
    + constructor; [cbn; apply Z.mod_pos_bound; lia|assumption].
    + unfold stride_sum, weight_sum, sum_of in *. cbn [fold_right fst snd]. rewrite S, W.
      cbn [of_chain map fst snd]. fold (of_chain modes).
      rewrite value_cons by (assumption || (intros E; rewrite E in Hi; cbn in Hi; lia)).
      split; [|reflexivity]. rewrite (Z.div_mod i n) at 3 by lia. ring.
Qed.

Lemma zero_terms : forall modes : list (Z * Z * Z), Forall (fun t => 0 < fst (fst t)) modes ->
  let terms := map (fun t => (t, 0)) modes in
  map fst terms = modes /\ all_inside terms /\ stride_sum terms = 0 /\ weight_sum terms = 0.
Proof.
  induction modes as [|t modes IH]; intros H; cbn; [repeat split; constructor|]. inversion H; subst.
  destruct (IH H3) as (M & A & S & W). rewrite M. repeat split.
  - constructor; [cbn; lia|assumption].
  - unfold stride_sum, sum_of in *. cbn. rewrite S. reflexivity.
  - unfold weight_sum, sum_of in *. cbn. rewrite W. reflexivity.
Qed.

(** Numbers for the modes in another order are numbers for the modes. *)
Lemma reorder_terms : forall l (terms : list ((Z * Z * Z) * Z)), Permutation (map fst terms) (weighted 1 l) ->
  exists terms', map fst terms' = weighted 1 l /\ Permutation terms terms'.
Proof.
  intros l terms H. apply Permutation_sym in H. apply Permutation_map_inv in H. destruct H as (terms' & E & P).
  exists terms'. auto.
Qed.

Lemma weighted_positive : forall l w, positive l -> Forall (fun t => 0 < fst (fst t)) (weighted w l).
Proof. induction l as [|[n d] l IH]; intros w H; cbn; constructor; inversion H; subst; auto. Qed.

(** [a(r(i)) = i], if the modes of r are a chain of modes of a with other modes left out. *)
Theorem right_inverse_law : forall a modes others, positive a -> Permutation (modes ++ others) (weighted 1 a) ->
  chain 1 modes -> forall i, 0 <= i < size (of_chain modes) -> value a (value (of_chain modes) i) = i.
Proof.
  intros a modes others Ha P C i Hi. destruct (chain_terms modes 1 C i Hi) as (ts & M & A & S & W).
  assert (Fo : Forall (fun t => 0 < fst (fst t)) others).
  { assert (F := weighted_positive a 1 Ha). rewrite Forall_forall in *. intros t T. apply F.
    apply (Permutation_in t P). apply in_or_app. right. assumption. }
  destruct (zero_terms others Fo) as (M' & A' & S' & W'). cbv zeta in *. set (zs := map _ others) in *.
  destruct (reorder_terms a (ts ++ zs)) as (all & Ma & Pa); [rewrite map_app, M, M'; assumption|].
  assert (Aa : all_inside all).
  { unfold all_inside in *. rewrite Forall_forall in *. intros t T. apply Permutation_sym in Pa.
    apply (Permutation_in t Pa), in_app_or in T. destruct T; auto. }
  destruct (value_terms a all Ma Aa) as [V _].
  unfold weight_sum, stride_sum in *. rewrite <- !(sum_permutation _ _ _ Pa), !sum_app, S, S', W, W' in V.
  rewrite Z.add_0_r in V. rewrite V. lia.
Qed.

(** ** The left inverse *)

(** Modes in the order of their strides: each stride is a multiple of the stride before it, and not below its period. *)
Fixpoint separated (previous count : Z) (modes : list (Z * Z * Z)) : Prop :=
  match modes with
  | [] => True
  | (n, d, _) :: modes => d mod previous = 0 /\ previous * count <= d /\ 0 < n /\ separated d n modes
  end.

(** The result: the step from the previous stride to the next one, with the weight of the mode before. *)
Fixpoint left_inverse_from (previous count weight : Z) (modes : list (Z * Z * Z)) : layout :=
  match modes with
  | [] => [(count, weight)]
  | (n, d, w) :: modes => (d / previous, weight) :: left_inverse_from d n w modes
  end.
Definition left_inverse := left_inverse_from 1 1 0.

Lemma left_inverse_not_nil : forall modes p c w, exists m l, left_inverse_from p c w modes = m :: l.
Proof. destruct modes as [|[[n d] w'] modes]; intros; cbn; eauto. Qed.

Lemma left_inverse_terms : forall terms previous count weight x, 0 < previous -> 0 < count -> 0 <= x < count ->
  separated previous count (map fst terms) -> all_inside terms ->
  exists v, x * previous + stride_sum terms = previous * v /\
  value (left_inverse_from previous count weight (map fst terms)) v = x * weight + weight_sum terms.
Proof.
  induction terms as [|[[[n d] w] y] terms IH]; intros previous count weight x Hp Hc Hx S A; cbn [map fst] in *.
  - exists x. cbn. unfold stride_sum, weight_sum, sum_of. cbn. lia.
  - cbn [separated] in S. destruct S as (D & P & Hn & S). inversion A; subst. cbn in H1.
    apply Z.mod_divide in D; [|lia]. destruct D as [q ->]. assert (Hq : count <= q) by nia.
    destruct (IH (q * previous) n w y ltac:(nia) Hn H1 S H2) as (v & E & V).
    exists (x + q * v). unfold stride_sum, weight_sum, sum_of in *. cbn [fold_right fst snd]. split.
    + transitivity (x * previous + (y * (q * previous) + fold_right (fun t total => snd t * snd (fst (fst t)) + total) 0 terms));
        [reflexivity|]. rewrite E. ring.
    + cbn [left_inverse_from]. rewrite Z.div_mul by lia.
      destruct (left_inverse_not_nil (map fst terms) (q * previous) n w) as (m & l & L). rewrite L in *.
      change (value ((q, weight) :: m :: l) (x + q * v))
        with ((x + q * v) mod q * weight + value (m :: l) ((x + q * v) / q)).
      rewrite (Z.mul_comm q v), Z.mod_add, Z.div_add, Z.mod_small, Z.div_small, Z.add_0_l by lia. rewrite V. reflexivity.
Qed.

(** [r(a(i)) = i] for every index of a layout whose modes, in the order of their strides, are separated. *)
Theorem left_inverse_law : forall a modes, positive a -> Permutation modes (weighted 1 a) -> separated 1 1 modes ->
  forall i, 0 <= i < size a -> value (left_inverse modes) (value a i) = i.
Proof.
  intros a modes Ha P S i Hi.
  destruct (weighted_terms a 1 (digits a i) (digits_inside a i Ha Hi)) as (ts & M & _ & A & Ss & Sw).
  rewrite index_digits in Sw by assumption. rewrite <- value_digits in Ss by assumption.
  rewrite <- M in P. apply Permutation_map_inv in P. destruct P as (terms & E & P). rewrite E in *.
  assert (A' : all_inside terms).
  { unfold all_inside in *. rewrite Forall_forall in *. intros t T. apply A. apply Permutation_sym in P.
    apply (Permutation_in t P). assumption. }
  destruct (left_inverse_terms terms 1 1 0 0 ltac:(lia) ltac:(lia) ltac:(lia) S A') as (v & V & W).
  unfold stride_sum, weight_sum in *. rewrite <- (sum_permutation _ _ _ P) in V. rewrite <- (sum_permutation _ _ _ P) in W.
  rewrite Ss in V. rewrite Sw in W.
  unfold left_inverse. replace (value a i) with v by lia. lia.
Qed.
