(** [composition]: a layout R with [R(i) = a(b(i))]. It exists if and only if each mode of b alone has one, and [a o b] is
    additive over the modes of b.

    Python: [layoutalg/algebra/composition.py], which decides by this rule; the search for the layout of one mode is in
    [layoutalg/layouts/plain_composition.py]. *)

From Coq Require Import ZArith Lia List.
From LayoutAlg Require Import ReadModel Layouts Coordinates.
Import ListNotations.
Open Scope Z_scope.

(** ** The rule *)

(** The sum of a layout for each mode of b, at a coordinate of b. *)
Fixpoint sum_at (rs : list layout) (xs : list Z) : Z :=
  match rs, xs with r :: rs, x :: xs => value r x + sum_at rs xs | _, _ => 0 end.

(** The sum of a along each mode of b alone. *)
Fixpoint sum_of_modes (a b : layout) (xs : list Z) : Z :=
  match b, xs with (_, d) :: b, x :: xs => value a (x * d) + sum_of_modes a b xs | _, _ => 0 end.

Definition additive a b := forall xs, inside b xs -> value a (dot b xs) = sum_of_modes a b xs.

(** R is the composition: a layout with the extent of each mode of b, whose sum is [a o b]. *)
Definition is_composition a b rs :=
  Forall2 (fun m r => positive r /\ size r = fst m) b rs /\
  forall xs, inside b xs -> sum_at rs xs = value a (dot b xs).

(** Every mode of b alone has a layout. *)
Definition modes_compose a (b : layout) rs :=
  Forall2 (fun m r => positive r /\ size r = fst m /\ forall x, 0 <= x < fst m -> value r x = value a (x * snd m)) b rs.

Lemma zeros_inside : forall b, positive b -> inside b (map (fun _ => 0) b).
Proof. induction b as [|[n d] b IH]; intros H; cbn; [exact I|]. inversion H; subst. cbn in *. split; [lia|auto]. Qed.

Lemma zeros_sum : forall b rs (P : Z * Z -> layout -> Prop), Forall2 (fun m r => positive r /\ P m r) b rs ->
  sum_at rs (map (fun _ => 0) b) = 0.
Proof.
  intros b rs P H. induction H as [|[n d] r b rs [Hr _] H IH]; cbn; [reflexivity|]. rewrite value_zero, IH by assumption.
  reflexivity.
Qed.

Lemma zeros_dot : forall b, dot b (map (fun _ => 0) b) = 0.
Proof. induction b as [|[n d] b IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.

Lemma sum_at_modes : forall a b rs, modes_compose a b rs ->
  forall xs, inside b xs -> sum_at rs xs = sum_of_modes a b xs.
Proof.
  intros a b rs H. induction H as [|[n d] r b rs (_ & _ & V) H IH]; intros [|x xs] X; cbn in X; try tauto; try reflexivity.
  destruct X as [X1 X2]. cbn. cbn in V. rewrite V, IH by assumption. reflexivity.
Qed.

(** The admissibility rule: the layouts of the modes make the composition if and only if [a o b] is additive. *)
Theorem composition_rule : forall a b rs, modes_compose a b rs ->
  (additive a b <-> forall xs, inside b xs -> sum_at rs xs = value a (dot b xs)).
Proof.
  intros a b rs H. assert (S := sum_at_modes a b rs H).
  split; intros A xs X; [rewrite S, A by assumption | rewrite <- A, S by assumption]; reflexivity.
Qed.

Lemma is_composition_modes : forall a b rs, positive a -> positive b -> is_composition a b rs -> modes_compose a b rs.
Proof.
  intros a b rs Ha Hb [F E]. revert rs F E.
  induction b as [|[n d] b IH]; intros rs F E; inversion F; subst; [constructor|].
  inversion Hb; subst. destruct H1 as [Hr Sr]. cbn in Sr, H2.
  constructor.
  - split; [assumption|]. split; [assumption|]. cbn. intros x Hx.
    specialize (E (x :: map (fun _ => 0) b)). cbn in E. rewrite zeros_dot, Z.add_0_r in E.
    rewrite (zeros_sum b l' (fun m r => size r = fst m)), Z.add_0_r in E by assumption.
    apply E. split; [assumption|]. apply zeros_inside. assumption.
  - apply IH; try assumption. intros xs X. specialize (E (0 :: xs)). cbn in E.
    rewrite value_zero in E by assumption. cbn in E. apply E. split; [lia|assumption].
Qed.

(** A composition exists if and only if every mode has its layout and [a o b] is additive. Nothing is assumed about how the
    layouts of the modes are found. *)
Theorem composition_exists : forall a b, positive a -> positive b ->
  ((exists rs, is_composition a b rs) <-> ((exists rs, modes_compose a b rs) /\ additive a b)).
Proof.
  intros a b Ha Hb. split.
  - intros [rs H]. assert (M := is_composition_modes a b rs Ha Hb H). split; [exists rs; assumption|].
    apply (composition_rule a b rs M). exact (proj2 H).
  - intros [[rs M] A]. exists rs. split.
    + clear A. induction M as [|m r b rs (P & S & _) M IH]; constructor; [auto|]. apply IH. inversion Hb; assumption.
    + apply (composition_rule a b rs M). assumption.
Qed.

(** ** One mode, by CuTe's rule of divisibility *)

(** The layout of the indices 0, d, 2d, ... of a: modes below d are skipped, and the next mode is divided. *)
Fixpoint compose_mode (a : layout) (n d : Z) : option layout :=
  match a with
  | [] => None
  | [(_, t)] => Some [(n, d * t)]
  | (s, t) :: a' =>
      if d mod s =? 0 then compose_mode a' n (d / s)
      else if s mod d =? 0 then
        let part := s / d in
        if n <=? part then Some [(n, d * t)]
        else if n mod part =? 0 then option_map (cons (part, d * t)) (compose_mode a' (n / part) 1) else None
      else None
  end.

(** If the rule has a result, it is the layout of [x -> a(x d)]. *)
Theorem compose_mode_law : forall a n d r, positive a -> 0 < n -> 0 <= d -> compose_mode a n d = Some r ->
  positive r /\ size r = n /\ forall x, 0 <= x < n -> value r x = value a (x * d).
Proof.
  induction a as [|[s t] a IH]; intros n d r Ha Hn Hd E; [discriminate|].
  inversion Ha as [|? ? Hs Ha']; subst. cbn in Hs. destruct a as [|m a].
  { injection E as <-. repeat split; [repeat constructor; assumption|cbn; lia|]. intros; cbn [value]; ring. }
  set (rest := m :: a) in *.
  change ((if d mod s =? 0 then compose_mode rest n (d / s)
    else if s mod d =? 0 then
      if n <=? s / d then Some [(n, d * t)]
      else if n mod (s / d) =? 0 then option_map (cons (s / d, d * t)) (compose_mode rest (n / (s / d)) 1) else None
    else None) = Some r) in E.
  assert (V : forall x, value ((s, t) :: rest) x = x mod s * t + value rest (x / s)) by reflexivity.
  clearbody rest. destruct (Z.eqb_spec (d mod s) 0) as [D | D].
  - apply Z.mod_divide in D; [|lia]. destruct D as [c ->]. rewrite Z.div_mul in E by lia.
    destruct (IH n c r Ha' Hn ltac:(nia) E) as (P & S & W). repeat split; [assumption|assumption|].
    intros x Hx. rewrite V, W by assumption. rewrite Z.mul_assoc, Z.mod_mul, Z.div_mul by lia. ring.
  - destruct (Z.eqb_spec (s mod d) 0) as [D' | D']; [|discriminate].
    assert (Hd' : 0 < d) by (assert (d <> 0) by (intros ->; apply D; reflexivity); lia).
    apply Z.mod_divide in D'; [|lia]. destruct D' as [c ->]. rewrite Z.div_mul in E by lia.
    assert (Hc : 0 < c) by nia.
    assert (M : forall x, (x * d) mod (c * d) = x mod c * d /\ x * d / (c * d) = x / c).
    { intros x. rewrite Z.mul_mod_distr_r, Z.div_mul_cancel_r by lia. split; reflexivity. }
    destruct (Z.leb_spec n c).
    + injection E as <-. repeat split; [repeat constructor; assumption|cbn; lia|].
      intros x Hx. rewrite V. destruct (M x) as [-> ->]. rewrite Z.mod_small, Z.div_small, value_zero by (assumption || lia).
      cbn [value]. ring.
    + destruct (Z.eqb_spec (n mod c) 0) as [G | G]; [|discriminate].
      apply Z.mod_divide in G; [|lia]. destruct G as [k ->]. rewrite Z.div_mul in E by lia.
      destruct (compose_mode rest k 1) as [u|] eqn:U; [|discriminate]. injection E as <-.
      assert (Hk : 0 < k) by nia. destruct (IH k 1 u Ha' Hk ltac:(lia) U) as (P & S & W).
      repeat split; [constructor; [exact Hc|assumption]|cbn [size]; rewrite S; ring|].
      intros x Hx. rewrite V. destruct (M x) as [-> ->].
      rewrite value_cons; [|lia|intros ->; cbn in S; nia].
      rewrite W; [rewrite Z.mul_1_r; ring|]. split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia].
Qed.
