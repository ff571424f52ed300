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

(** ** The coalesced form is unique *)

(** No mode has extent 1, and no two neighbors could be one mode. *)
Fixpoint coalesced (l : layout) : Prop :=
  match l with
  | [] => True
  | (n, d) :: l => 1 < n /\ match l with [] => True | (_, d') :: _ => d' <> n * d end /\ coalesced l
  end.

Theorem coalesce_coalesced : forall l, positive l -> coalesced (coalesce l).
Proof.
  induction l as [|[n d] l IH]; intros H; [exact I|]. inversion H as [|? ? Hn Hl]; subst. cbn in Hn. specialize (IH Hl).
  destruct (coalesce_law l Hl) as (P & _ & _).
  cbn [coalesce]. destruct (Z.eqb_spec n 1) as [-> | N]; [exact IH|].
  destruct (coalesce l) as [|[n' d'] rest]; [cbn; repeat split; lia|].
  inversion P; subst. cbn in *. destruct IH as (I1 & I2 & I3). destruct (Z.eqb_spec d' (n * d)) as [-> | D]; cbn.
  - split; [nia|]. split; [|exact I3]. destruct rest as [|[n2 d2] rest]; [exact I|].
    intros E. apply I2. rewrite E. ring.
  - repeat split; try assumption; lia.
Qed.

Lemma coalesced_positive : forall l, coalesced l -> positive l.
Proof.
  induction l as [|[n d] l IH]; intros H; [constructor|]. cbn [coalesced] in H. destruct H as (H1 & _ & H3).
  constructor; [cbn; lia|exact (IH H3)].
Qed.

(** In the first mode, the offset is the index times the stride; the first index after it is the next stride. *)
Lemma first_mode : forall n d l i, coalesced ((n, d) :: l) -> 0 <= i < n -> value ((n, d) :: l) i = i * d.
Proof.
  intros n d l i H Hi. cbn [coalesced] in H. destruct H as (H1 & _ & H3).
  rewrite value_cons by lia. rewrite Z.mod_small, Z.div_small, value_zero by (lia || apply coalesced_positive; assumption).
  ring.
Qed.

Lemma next_mode : forall n d n' d' l, coalesced ((n, d) :: (n', d') :: l) -> value ((n, d) :: (n', d') :: l) n = d'.
Proof.
  intros n d n' d' l H. assert (H' := H). cbn [coalesced] in H'. destruct H' as (H1 & _ & H2).
  change (n mod n * d + value ((n', d') :: l) (n / n) = d'). rewrite Z.mod_same, Z.div_same by lia.
  rewrite first_mode; [ring|exact H2|lia].
Qed.

(** Two coalesced layouts that are the same function of the index are the same list of modes. So two layouts are the same
    function exactly if their coalesced forms are equal. *)
Theorem coalesced_unique : forall l k, coalesced l -> coalesced k -> size l = size k ->
  (forall i, 0 <= i < size l -> value l i = value k i) -> l = k.
Proof.
  induction l as [|[n d] l IH]; intros k Hl Hk S V.
  - destruct k as [|[m e] k]; [reflexivity|]. exfalso. assert (P := coalesced_positive _ Hk). inversion P; subst.
    assert (T := size_positive k H2). cbn [coalesced] in Hk. destruct Hk as (Hm & _). cbn [size] in S. nia.
  - destruct k as [|[m e] k].
    { exfalso. assert (P := coalesced_positive _ Hl). inversion P; subst. assert (T := size_positive l H2).
      cbn [coalesced] in Hl. destruct Hl as (Hn & _). cbn [size] in S. nia. }
    assert (Pl := coalesced_positive _ Hl). assert (Pk := coalesced_positive _ Hk).
    inversion Pl as [|? ? _ Pl']; inversion Pk as [|? ? _ Pk']; subst.
    assert (Tl := size_positive l Pl'). assert (Tk := size_positive k Pk').
    assert (Hn : 1 < n /\ coalesced l) by (cbn [coalesced] in Hl; tauto).
    assert (Hm : 1 < m /\ coalesced k) by (cbn [coalesced] in Hk; tauto).
    destruct Hn as [Hn Cl], Hm as [Hm Ck]. cbn [size] in S.
    assert (E : d = e).
    { specialize (V 1 ltac:(cbn [size]; nia)). rewrite !first_mode in V by (assumption || lia). lia. }
    subst e.
    assert (N : n = m).
    { destruct (Z.lt_trichotomy n m) as [L | [L | L]]; [|exact L|]; exfalso.
      - destruct l as [|[n2 d2] l]; [cbn [size] in S; nia|].
        specialize (V n ltac:(cbn [size] in *; nia)). rewrite next_mode, first_mode in V by (assumption || lia).
        cbn [coalesced] in Hl. destruct Hl as (_ & D & _). apply D. exact V.
      - destruct k as [|[m2 e2] k]; [cbn [size] in S; nia|].
        specialize (V m ltac:(cbn [size] in *; nia)). rewrite next_mode, first_mode in V by (assumption || lia).
        cbn [coalesced] in Hk. destruct Hk as (_ & D & _). apply D. symmetry. exact V. }
    subst m. f_equal. apply IH; [assumption|assumption|nia|].
    intros i Hi. specialize (V (i * n) ltac:(cbn [size]; nia)).
    rewrite !value_cons in V by (lia || (intros ->; cbn [size] in *; nia)).
    rewrite Z.mod_mul, Z.div_mul in V by lia. lia.
Qed.
