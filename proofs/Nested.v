(** Nested layouts: a layout whose modes are layouts has the values of the list of its leaves.

    Python: [layoutalg.Layout] has nested shapes; [layoutalg.flatten] returns the leaves. The other files of this folder use
    lists of leaves. *)

From Coq Require Import ZArith Lia List.
From LayoutAlg Require Import ReadModel Layouts Coordinates.
Import ListNotations.
Open Scope Z_scope.

Inductive nested := Leaf (extent stride : Z) | Node (first : nested) (others : modes)
with modes := End | Mode (t : nested) (others : modes).

Scheme nested_ind_with := Induction for nested Sort Prop with modes_ind_with := Induction for modes Sort Prop.

Fixpoint leaves (t : nested) : layout :=
  match t with Leaf n d => [(n, d)] | Node t ts => leaves t ++ leaves_of_modes ts end
with leaves_of_modes ts := match ts with End => [] | Mode t ts => leaves t ++ leaves_of_modes ts end.

Fixpoint nested_size (t : nested) : Z :=
  match t with Leaf n _ => n | Node t ts => nested_size t * modes_size ts end
with modes_size ts := match ts with End => 1 | Mode t ts => nested_size t * modes_size ts end.

(** The value at an index: each mode takes its part of the index, the first mode is the fastest, and the last one
    continues beyond its size. This is [crd2idx] of [idx2crd]. *)
Fixpoint nested_value (t : nested) (i : Z) : Z :=
  match t with
  | Leaf _ d => i * d
  | Node t End => nested_value t i
  | Node t ts => nested_value t (i mod nested_size t) + modes_value ts (i / nested_size t)
  end
with modes_value ts i :=
  match ts with
  | End => 0
  | Mode t End => nested_value t i
  | Mode t ts => nested_value t (i mod nested_size t) + modes_value ts (i / nested_size t)
  end.

Fixpoint extents_positive (t : nested) : Prop :=
  match t with Leaf n _ => 0 < n | Node t ts => extents_positive t /\ all_positive ts end
with all_positive ts := match ts with End => True | Mode t ts => extents_positive t /\ all_positive ts end.

Lemma value_append : forall l k i, positive l -> k <> [] ->
  value (l ++ k) i = value l (i mod size l) + value k (i / size l).
Proof.
  induction l as [|[n d] l IH]; intros k i Hl Hk; cbn [app size].
  - rewrite Z.div_1_r. reflexivity.
  - inversion Hl as [|? ? Hn Hl']; subst. cbn in Hn. assert (S := size_positive l Hl').
    assert (more : l ++ k <> []) by (destruct l; [exact Hk|discriminate]).
    assert (step : value ((n, d) :: l ++ k) i = i mod n * d + value (l ++ k) (i / n))
      by (destruct (l ++ k); [contradiction more; reflexivity|reflexivity]).
    rewrite step, IH by assumption. rewrite <- Z.div_div by lia.
    rewrite (value_cons n d l (i mod (n * size l))) by (assumption || (intros ->; cbn [size]; rewrite Z.mul_1_r;
      apply Z.mod_pos_bound; assumption)).
    rewrite Z.rem_mul_r by lia. rewrite (Z.mul_comm n ((i / n) mod size l)), Z.mod_add, Z.div_add by lia.
    rewrite Z.mod_mod, (Z.div_small (i mod n)) by (lia || (apply Z.mod_pos_bound; lia)). rewrite Z.add_0_l. ring.
Qed.

Lemma positive_append : forall l k, positive l -> positive k -> positive (l ++ k).
Proof. intros l k Hl Hk. apply Forall_app. split; assumption. Qed.

Lemma size_append : forall l k, size (l ++ k) = size l * size k.
Proof. induction l as [|[n d] l IH]; intros k; cbn [app size]; [ring|]. rewrite IH. ring. Qed.

(** A nested layout is the same function of the index as the list of its leaves. *)
Theorem nested_values : forall t, extents_positive t ->
  positive (leaves t) /\ leaves t <> [] /\ size (leaves t) = nested_size t /\
  forall i, nested_value t i = value (leaves t) i.
Proof.
  apply (nested_ind_with
    (fun t => extents_positive t -> positive (leaves t) /\ leaves t <> [] /\ size (leaves t) = nested_size t /\
       forall i, nested_value t i = value (leaves t) i)
    (fun ts => all_positive ts -> positive (leaves_of_modes ts) /\ (ts <> End -> leaves_of_modes ts <> []) /\
       size (leaves_of_modes ts) = modes_size ts /\ forall i, modes_value ts i = value (leaves_of_modes ts) i)).
  - intros n d H. cbn in *. repeat split; [constructor; [exact H|constructor]|discriminate|lia].
  - intros t IHt ts IHts [Ht Hts]. destruct (IHt Ht) as (P & N & S & V). destruct (IHts Hts) as (Q & M & T & W).
    cbn [leaves nested_size]. repeat split.
    + apply positive_append; assumption.
    + destruct (leaves t); [contradiction N; reflexivity|discriminate].
    + rewrite size_append, S, T. reflexivity.
    + intros i. destruct ts as [|t' ts]; [cbn [nested_value leaves_of_modes]; rewrite app_nil_r; apply V|].
      rewrite value_append by (assumption || (apply M; discriminate)). rewrite S, <- V, <- W. reflexivity.
  - intros _. cbn. repeat split; [constructor|intros H; contradiction H; reflexivity].
  - intros t IHt ts IHts [Ht Hts]. destruct (IHt Ht) as (P & N & S & V). destruct (IHts Hts) as (Q & M & T & W).
    cbn [leaves_of_modes modes_size]. repeat split.
    + apply positive_append; assumption.
    + intros _. destruct (leaves t); [contradiction N; reflexivity|discriminate].
    + rewrite size_append, S, T. reflexivity.
    + intros i. destruct ts as [|t' ts]; [cbn [modes_value leaves_of_modes]; rewrite app_nil_r; apply V|].
      rewrite value_append by (assumption || (apply M; discriminate)). rewrite S, <- V, <- W. reflexivity.
Qed.
