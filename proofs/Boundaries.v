(** When [a o b] is additive: the function of a layout is a sum of floors, one for each boundary between two modes. Composition
    fails exactly if the jumps of the floors do not cancel.

    Python: [layoutalg/layouts/plain_composition.py], whose docstring states this theorem. *)

From Coq Require Import ZArith Lia List.
From LayoutAlg Require Import Bits ReadModel Layouts Coordinates Composition.
Import ListNotations.
Open Scope Z_scope.

(** The boundaries (P, c) of a layout: P is the product of the extents up to a mode, and c the step of the next mode
    beyond what the mode before would add. A boundary with c = 0 is no boundary. *)
Fixpoint boundaries (p : Z) (a : layout) : list (Z * Z) :=
  match a with
  | [] => []
  | (n, d) :: a' => match a' with [] => [] | (_, e) :: _ => (p * n, e - n * d) :: boundaries (p * n) a' end
  end.
Definition first_stride (a : layout) := match a with [] => 0 | (_, d) :: _ => d end.
Definition floors (bs : list (Z * Z)) x := fold_right (fun b total => snd b * (x / fst b) + total) 0 bs.

Lemma floor_form_from : forall a p x, 0 < p -> positive a ->
  value a (x / p) = first_stride a * (x / p) + floors (boundaries p a) x.
Proof.
  induction a as [|[n d] a IH]; intros p x Hp Ha; [reflexivity|].
  inversion Ha as [|? ? Hn Ha']; subst. cbn in Hn. destruct a as [|[m e] a]; [cbn; ring|].
  change (value ((n, d) :: (m, e) :: a) (x / p)) with (x / p mod n * d + value ((m, e) :: a) (x / p / n)).
  change (boundaries p ((n, d) :: (m, e) :: a)) with ((p * n, e - n * d) :: boundaries (p * n) ((m, e) :: a)).
  rewrite Z.div_div, IH by (assumption || nia). cbn [first_stride floors fold_right fst snd].
  rewrite Z.mod_eq, Z.div_div by lia. unfold floors. ring.
Qed.

(** A layout is linear, plus a jump for each boundary that the index has passed. It holds for all indices. *)
Theorem floor_form : forall a x, positive a -> value a x = first_stride a * x + floors (boundaries 1 a) x.
Proof.
  intros a x Ha. assert (H := floor_form_from a 1 x ltac:(lia) Ha). rewrite Z.div_1_r in H. exact H.
Qed.

(** By how much the floor at a boundary differs from the sum of the floors of the modes of b. *)
Fixpoint floor_sum P (b : layout) (xs : list Z) : Z :=
  match b, xs with (_, t) :: b, x :: xs => x * t / P + floor_sum P b xs | _, _ => 0 end.
Definition defect P b xs := dot b xs / P - floor_sum P b xs.
Definition jumps (bs : list (Z * Z)) b xs := fold_right (fun p total => snd p * defect (fst p) b xs + total) 0 bs.

Fixpoint floors_of_modes bs (b : layout) (xs : list Z) : Z :=
  match b, xs with (_, t) :: b, x :: xs => floors bs (x * t) + floors_of_modes bs b xs | _, _ => 0 end.

Lemma floors_of_modes_cons : forall P c bs b xs,
  floors_of_modes ((P, c) :: bs) b xs = c * floor_sum P b xs + floors_of_modes bs b xs.
Proof.
  intros P c bs. induction b as [|[n t] b IH]; intros [|x xs]; cbn; try ring.
  specialize (IH xs). unfold floors in *. cbn in *. rewrite IH. ring.
Qed.

Lemma jumps_spec : forall bs b xs, jumps bs b xs = floors bs (dot b xs) - floors_of_modes bs b xs.
Proof.
  induction bs as [|[P c] bs IH]; intros b xs.
  - assert (E : floors_of_modes [] b xs = 0) by (revert xs; induction b as [|[n t] b IHb]; intros [|x xs]; cbn; auto).
    rewrite E. reflexivity.
  - rewrite floors_of_modes_cons. unfold jumps, floors, defect in *. cbn. rewrite IH. ring.
Qed.

Lemma sum_of_modes_floors : forall a b xs, positive a ->
  sum_of_modes a b xs = first_stride a * dot b xs + floors_of_modes (boundaries 1 a) b xs.
Proof.
  intros a b xs Ha. revert xs. induction b as [|[n t] b IH]; intros [|x xs]; cbn [sum_of_modes dot floors_of_modes]; try ring.
  rewrite IH, floor_form by assumption. ring.
Qed.

(** [a o b] is additive over the modes of b exactly if the jumps at all boundaries cancel at each coordinate. *)
Theorem additive_exactly : forall a b, positive a ->
  (additive a b <-> forall xs, inside b xs -> jumps (boundaries 1 a) b xs = 0).
Proof.
  intros a b Ha. unfold additive. split; intros H xs X; specialize (H xs X);
    rewrite jumps_spec, ?sum_of_modes_floors, ?floor_form in * by assumption; lia.
Qed.

(** With one boundary, nothing can cancel its jump. *)
Theorem one_boundary : forall a b P c, positive a -> boundaries 1 a = [(P, c)] -> c <> 0 ->
  (additive a b <-> forall xs, inside b xs -> defect P b xs = 0).
Proof.
  intros a b P c Ha Hb Hc. rewrite additive_exactly, Hb by assumption. unfold jumps. cbn.
  split; intros H xs X; specialize (H xs X); nia.
Qed.

(** A boundary is clean if the remainders of all modes of b together stay below it. *)
Fixpoint remainders P (b : layout) : Z := match b with [] => 0 | (n, t) :: b => (n - 1) * (t mod P) + remainders P b end.
Definition clean P b := remainders P b < P.
Fixpoint linear_floor P (b : layout) (xs : list Z) : Z :=
  match b, xs with (_, t) :: b, x :: xs => x * (t / P) + linear_floor P b xs | _, _ => 0 end.
Fixpoint remainder_sum P (b : layout) (xs : list Z) : Z :=
  match b, xs with (_, t) :: b, x :: xs => x * (t mod P) + remainder_sum P b xs | _, _ => 0 end.

Lemma remainder_bounds : forall P b xs, 0 < P -> positive b -> inside b xs -> 0 <= remainder_sum P b xs <= remainders P b.
Proof.
  intros P b. induction b as [|[n t] b IH]; intros [|x xs] HP Hb X; cbn in *; try tauto; try lia.
  destruct X as [X1 X2]. inversion Hb; subst. specialize (IH xs HP H2 X2).
  assert (M := Z.mod_pos_bound t P HP). nia.
Qed.

Lemma clean_floor : forall P b xs, 0 < P -> positive b -> clean P b -> inside b xs -> dot b xs / P = linear_floor P b xs.
Proof.
  intros P b xs HP Hb C X. assert (B := remainder_bounds P b xs HP Hb X). unfold clean in C.
  assert (E : dot b xs = P * linear_floor P b xs + remainder_sum P b xs).
  { clear C B Hb. revert xs X. induction b as [|[n t] b IH]; intros [|x xs] X; cbn in *; try tauto; try ring.
    destruct X as [_ X]. rewrite (IH xs X). rewrite (Z.div_mod t P) at 1 by lia. ring. }
  rewrite E. apply (div_split P); lia.
Qed.

Lemma sum_zero : forall (bs : list (Z * Z)) g, (forall p, g p = 0) ->
  fold_right (fun p total => snd p * g p + total) 0 bs = 0.
Proof. intros bs g H. induction bs as [|p bs IH]; cbn [fold_right]; [reflexivity|]. rewrite H, IH. ring. Qed.

(** If every boundary is clean, the composition is b with the stride [a(t)] in place of each stride t. *)
Theorem clean_composition : forall a b, positive a -> positive b ->
  Forall (fun p => 0 < fst p /\ (snd p = 0 \/ clean (fst p) b)) (boundaries 1 a) ->
  forall xs, inside b xs -> value a (dot b xs) = dot (map (fun m => (fst m, value a (snd m))) b) xs.
Proof.
  intros a b Ha Hb F xs X. rewrite floor_form by assumption.
  assert (L : forall bs, Forall (fun p => 0 < fst p /\ (snd p = 0 \/ clean (fst p) b)) bs ->
    floors bs (dot b xs) = fold_right (fun p total => snd p * linear_floor (fst p) b xs + total) 0 bs).
  { induction bs as [|[P c] bs IH]; intros G; [reflexivity|]. inversion G as [|? ? [HP HC] G']; subst. cbn in *.
    unfold floors in *. cbn. rewrite (IH G'). destruct HC as [-> | HC]; [ring|]. rewrite clean_floor by assumption. ring. }
  rewrite (L _ F). clear L F.
  assert (R : forall bs, first_stride a * dot b xs + fold_right (fun p total => snd p * linear_floor (fst p) b xs + total) 0 bs
    = dot (map (fun m => (fst m, first_stride a * snd m + floors bs (snd m))) b) xs).
  { intros bs. clear X Hb. revert xs. induction b as [|[n t] b IH]; intros [|x xs]; cbn [dot map fst snd linear_floor].
    1, 2, 3: assert (none := sum_zero bs (fun _ => 0) (fun _ => eq_refl)); cbv beta in none; rewrite none; ring.
    assert (S : fold_right (fun p total => snd p * (x * (t / fst p) + linear_floor (fst p) b xs) + total) 0 bs
      = x * floors bs t + fold_right (fun p total => snd p * linear_floor (fst p) b xs + total) 0 bs).
    { clear IH. induction bs as [|p bs IHbs]; unfold floors in *; cbn [fold_right]; [ring|]. rewrite IHbs. ring. }
    rewrite S, <- IH. ring. }
  rewrite R. f_equal. clear R X Hb. induction b as [|[n t] b IH]; cbn; [reflexivity|]. rewrite IH, floor_form by assumption.
  reflexivity.
Qed.
