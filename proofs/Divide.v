(** The divides and the products: a layout in tiles, and copies of a layout.

    Python: [layoutalg/algebra/divide.py] and [layoutalg/algebra/products.py]. The zipped, tiled, flat, blocked and raked
    variants of an operation have the same modes in another order and nesting, so that their offsets are the same sums. *)

From Coq Require Import ZArith Lia List Permutation.
From LayoutAlg Require Import Bits ReadModel Layouts Coordinates Composition Complement.
Import ListNotations.
Open Scope Z_scope.

(** [logical_divide(a, b)] is the composition of a with (b, complement of b up to the size of a). Each element of a is in
    exactly one tile at exactly one place: for each index x of a there is one pair (i, j) of an index of the tile and an
    index of the rest with this element. [tile] and [rest] are the two modes of the result. The assumption is that they are
    the composition, and that each stride of b is a multiple of the period below it. *)
Theorem logical_divide_law : forall a b (tile rest : Z -> Z), positive a -> spread 1 b -> whole 1 b ->
  let gaps := complement b (size a) in
  (forall i j, 0 <= i < size b -> 0 <= j < size gaps -> tile i + rest j = value a (value b i + value gaps j)) ->
  forall x, 0 <= x < size a -> exists i j, 0 <= i < size b /\ 0 <= j < size gaps /\
    value b i + value gaps j = x /\ tile i + rest j = value a x /\
    forall i' j', 0 <= i' < size b -> 0 <= j' < size gaps -> value b i' + value gaps j' = x -> i' = i /\ j' = j.
Proof.
  intros a b tile rest Ha Hb Wb gaps L x Hx. assert (Sa := size_positive a Ha).
  destruct (complement_covers b (size a) Sa Hb Wb x Hx) as (i & j & Hi & Hj & E). exists i, j.
  split; [exact Hi|]. split; [exact Hj|]. split; [exact E|]. split.
  - rewrite L by assumption. f_equal. exact E.
  - intros i' j' Hi' Hj' E'. apply (complement_disjoint b (size a) Sa Hb i' j' i j); try assumption.
    unfold gaps in E'. rewrite E'. symmetry. exact E.
Qed.

(** [logical_product(a, b)] is (a, composition of the complement of a with b). The copies of a do not overlap: two elements
    of copies have the same offset only if they are the same element of the same copy. [copies] is the second mode; the
    assumption is that it is the composition, and that b names different copies. *)
Theorem logical_product_law : forall a b target (copies : Z -> Z), 0 < target -> spread 1 a ->
  let gaps := complement a target in
  (forall j, 0 <= j < size b -> 0 <= value b j < size gaps) ->
  (forall j j', 0 <= j < size b -> 0 <= j' < size b -> value b j = value b j' -> j = j') ->
  (forall j, 0 <= j < size b -> copies j = value gaps (value b j)) ->
  forall i j i' j', 0 <= i < size a -> 0 <= i' < size a -> 0 <= j < size b -> 0 <= j' < size b ->
  value a i + copies j = value a i' + copies j' -> i = i' /\ j = j'.
Proof.
  intros a b target copies Ht Ha gaps R I C i j i' j' Hi Hi' Hj Hj' E. rewrite !C in E by assumption.
  destruct (complement_disjoint a target Ht Ha i (value b j) i' (value b j') Hi Hi' (R j Hj) (R j' Hj') E) as [-> X].
  split; [reflexivity|]. apply I; assumption.
Qed.

(** Zipped, tiled, flat, blocked and raked forms: the offset of a coordinate does not depend on the order of the modes. A
    coordinate in another order is the list of its pairs (mode, number) in another order. *)
Theorem rearranged_modes : forall (modes modes' : list ((Z * Z) * Z)), Permutation modes modes' ->
  dot (map fst modes) (map snd modes) = dot (map fst modes') (map snd modes').
Proof.
  intros s t H. induction H as [|[[n d] x] s t H IH|[[n d] x] [[n' d'] x'] s|s t u H1 IH1 H2 IH2]; cbn in *; lia.
Qed.

(** ** [tile_to_shape] *)

Lemma two_modes : forall n d m e i, 0 < n -> 0 <= i < n * m ->
  value [(n, d); (m, e)] i = i mod n * d + i / n * e /\ 0 <= i mod n < n /\ 0 <= i / n < m.
Proof.
  intros n d m e i Hn Hi. split; [reflexivity|]. split; [apply Z.mod_pos_bound; lia|].
  split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia].
Qed.

Lemma pair_of_digits : forall n x X, 0 < n -> 0 <= x < n -> (x + n * X) mod n = x /\ (x + n * X) / n = X.
Proof. intros n x X Hn Hx. rewrite Z.add_comm. apply and_comm, div_split; assumption. Qed.

(** Four numbers below their extents are determined by their compact index. *)
Lemma four_digits : forall a b c x y z t x' y' z' t',
  0 <= x < a -> 0 <= y < b -> 0 <= z < c -> 0 <= x' < a -> 0 <= y' < b -> 0 <= z' < c ->
  x + a * (y + b * (z + c * t)) = x' + a * (y' + b * (z' + c * t')) -> x = x' /\ y = y' /\ z = z' /\ t = t'.
Proof.
  intros a b c x y z t x' y' z' t' Hx Hy Hz Hx' Hy' Hz' E.
  destruct (Z.div_mod_unique a (y + b * (z + c * t)) (y' + b * (z' + c * t')) x x') as [E1 ->]; [lia|lia|lia|].
  destruct (Z.div_mod_unique b (z + c * t) (z' + c * t') y y') as [E2 ->]; [lia|lia|lia|].
  destruct (Z.div_mod_unique c t t' z z') as [-> ->]; [lia|lia|lia|]. auto.
Qed.

Lemma find_digits : forall a b c d v, 0 < a -> 0 < b -> 0 < c -> 0 <= v < a * b * c * d -> exists x y z t,
  0 <= x < a /\ 0 <= y < b /\ 0 <= z < c /\ 0 <= t < d /\ v = x + a * (y + b * (z + c * t)).
Proof.
  intros a b c d v Ha Hb Hc Hv.
  assert (D1 := Z.div_mod v a ltac:(lia)). assert (M1 := Z.mod_pos_bound v a Ha). set (u := v / a) in *.
  assert (D2 := Z.div_mod u b ltac:(lia)). assert (M2 := Z.mod_pos_bound u b Hb). set (w := u / b) in *.
  assert (D3 := Z.div_mod w c ltac:(lia)). assert (M3 := Z.mod_pos_bound w c Hc). set (t := w / c) in *.
  assert (E : v = v mod a + a * (u mod b + b * (w mod c + c * t))).
  { rewrite D1 at 1. rewrite D2 at 1. rewrite D3 at 1. ring. }
  exists (v mod a), (u mod b), (w mod c), t. repeat split; try lia.
  - unfold t, w, u. apply Z.div_pos; [|lia]. apply Z.div_pos; [|lia]. apply Z.div_pos; lia.
  - unfold t, w, u. rewrite !Z.div_div by nia. apply Z.div_lt_upper_bound; nia.
Qed.

(** [tile_to_shape] of a compact atom, of n0 x n1 elements in either order, fills the tile: each offset below the size of
    the tile is the offset of exactly one element. It holds for both orders of the copies and all extents. *)
Theorem tile_to_shape_fills : forall n0 d0 n1 d1 o M N, 0 < n0 -> 0 < n1 -> 0 < M -> 0 < N ->
  (d0 = 1 /\ d1 = n0) \/ (d1 = 1 /\ d0 = n1) ->
  let '(rows, columns, _) := tile_to_shape ((n0, d0), (n1, d1)) o M N 1 in
  forall v, 0 <= v < n0 * n1 * M * N -> exists i j, 0 <= i < n0 * M /\ 0 <= j < n1 * N /\
    value rows i + value columns j = v /\
    forall i' j', 0 <= i' < n0 * M -> 0 <= j' < n1 * N -> value rows i' + value columns j' = v -> i' = i /\ j' = j.
Proof.
  intros n0 d0 n1 d1 o M N H0 H1 HM HN Hd. unfold tile_to_shape. intros v Hv.
  set (D0 := match o with MN_first => _ | K_first => _ end). set (D1 := match o with MN_first => _ | K_first => n0 * n1 end).
  assert (sums : exists f : Z -> Z -> Z -> Z -> Z,
    (forall x X y Y, x * d0 + X * D0 + (y * d1 + Y * D1) = f x X y Y) /\
    (exists x X y Y, 0 <= x < n0 /\ 0 <= X < M /\ 0 <= y < n1 /\ 0 <= Y < N /\ f x X y Y = v) /\
    (forall x X y Y x' X' y' Y', 0 <= x < n0 -> 0 <= X < M -> 0 <= y < n1 -> 0 <= Y < N ->
      0 <= x' < n0 -> 0 <= X' < M -> 0 <= y' < n1 -> 0 <= Y' < N -> f x X y Y = f x' X' y' Y' ->
      x = x' /\ X = X' /\ y = y' /\ Y = Y')).
  { destruct Hd as [[-> ->] | [-> ->]], o; subst D0 D1.
    - exists (fun x X y Y => x + n0 * (y + n1 * (X + M * Y))). split; [intros; ring|]. split.
      + destruct (find_digits n0 n1 M N v) as (x & y & X & Y & ? & ? & ? & ? & ->); try lia. exists x, X, y, Y. auto 6.
      + intros. destruct (four_digits n0 n1 M x y X Y x' y' X' Y'); auto. tauto.
    - exists (fun x X y Y => x + n0 * (y + n1 * (Y + N * X))). split; [intros; ring|]. split.
      + destruct (find_digits n0 n1 N M v) as (x & y & Y & X & ? & ? & ? & ? & ->); try lia. exists x, X, y, Y. auto 6.
      + intros. destruct (four_digits n0 n1 N x y Y X x' y' Y' X'); auto. tauto.
    - exists (fun x X y Y => y + n1 * (x + n0 * (X + M * Y))). split; [intros; ring|]. split.
      + destruct (find_digits n1 n0 M N v) as (y & x & X & Y & ? & ? & ? & ? & ->); try lia. exists x, X, y, Y. auto 6.
      + intros. destruct (four_digits n1 n0 M y x X Y y' x' X' Y'); auto. tauto.
    - exists (fun x X y Y => y + n1 * (x + n0 * (Y + N * X))). split; [intros; ring|]. split.
      + destruct (find_digits n1 n0 N M v) as (y & x & Y & X & ? & ? & ? & ? & ->); try lia. exists x, X, y, Y. auto 6.
      + intros. destruct (four_digits n1 n0 N y x Y X y' x' Y' X'); auto. tauto. }
  clearbody D0 D1. destruct sums as (f & Ef & (x & X & y & Y & Hx & HX & Hy & HY & E) & U).
  exists (x + n0 * X), (y + n1 * Y).
  destruct (pair_of_digits n0 x X H0 Hx) as [P1 P2]. destruct (pair_of_digits n1 y Y H1 Hy) as [P3 P4].
  split; [nia|]. split; [nia|]. split.
  - cbn [value]. rewrite P1, P2, P3, P4, Ef. exact E.
  - intros i' j' Hi' Hj' E'. destruct (two_modes n0 d0 M D0 i' H0 Hi') as (V1 & B1 & B2).
    destruct (two_modes n1 d1 N D1 j' H1 Hj') as (V2 & B3 & B4). rewrite V1, V2, Ef, <- E in E'.
    destruct (U (i' mod n0) (i' / n0) (j' mod n1) (j' / n1) x X y Y) as (<- & <- & <- & <-); try assumption.
    rewrite (Z.add_comm (i' mod n0)), (Z.add_comm (j' mod n1)). split; apply Z.div_mod; lia.
Qed.
