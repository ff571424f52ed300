(** [coalesce]: two modes become one where the second continues the first; the function of the index stays the same.

    Python: [layoutalg/algebra/coalesce.py]. *)

From Coq Require Import ZArith Lia List.
From LayoutAlg Require Import ReadModel Layouts Coordinates.
Import ListNotations.
Open Scope Z_scope.

Fixpoint coalesce (l : layout) : layout :=
  match l with
  | [] => []
  | (n, d) :: l =>
      if n =? 1 then coalesce l
      else match coalesce l with
      | [] => [(n, d)]
      | (n', d') :: rest => if d' =? n * d then (n * n', d) :: rest else (n, d) :: (n', d') :: rest
      end
  end.

Lemma merged_modes : forall n d n' l i, 0 < n -> 0 < n' ->
  value ((n, d) :: (n', n * d) :: l) i = value ((n * n', d) :: l) i.
Proof.
  intros n d n' [|m l] i Hn Hn'; cbn [value].
  - assert (E := Z.div_mod i n ltac:(lia)). rewrite E at 3. ring.
  - rewrite Z.rem_mul_r, Z.div_div by lia. ring.
Qed.

(** Coalescing keeps the size and the value at each index, for all layouts with positive extents. *)
Theorem coalesce_law : forall l, positive l ->
  positive (coalesce l) /\ size (coalesce l) = size l /\ forall i, 0 <= i < size l -> value (coalesce l) i = value l i.
Proof.
  induction l as [|[n d] l IH]; intros H; [repeat split; auto; constructor|].
  inversion H as [|? ? Hn Hl]; subst. cbn in Hn. destruct (IH Hl) as (P & S & V). clear IH.
  assert (Sl := size_positive l Hl).
  assert (next : forall i, 0 <= i < n * size l -> value ((n, d) :: l) i = i mod n * d + value (coalesce l) (i / n)).
  { intros i Hi. rewrite value_cons; [|lia|intros ->; cbn in Hi; lia]. rewrite V; [reflexivity|].
    split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]. }
  cbn [coalesce size]. destruct (Z.eqb_spec n 1) as [-> | N].
  { rewrite Z.mul_1_l. split; [assumption|]. split; [assumption|]. intros i Hi.
    rewrite next, Z.mod_1_r, Z.div_1_r by lia. ring. }
  destruct (coalesce l) as [|[n' d'] rest].
  - cbn in S. repeat split; [constructor; [assumption|constructor]|cbn; lia|].
    intros i Hi. rewrite next by assumption. cbn. rewrite Z.mod_small by lia. ring.
  - inversion P; subst. cbn in *. destruct (Z.eqb_spec d' (n * d)) as [-> | D].
    + repeat split; [constructor; [cbn; nia|assumption]|cbn in *; nia|].
      intros i Hi. rewrite next by assumption. rewrite <- merged_modes by assumption. reflexivity.
    + repeat split; [constructor; [assumption|constructor; assumption]|cbn in *; nia|].
      intros i Hi. rewrite next by assumption. reflexivity.
Qed.
