(** Layouts as lists of modes, and the tiles that CuTe makes of the atoms of a swizzle.

    Python: [layoutalg.Layout], [tile_to_shape], and the table of atoms in [descriptors/smem/operands/atoms.py]. *)

From Coq Require Import ZArith Lia List.
From LayoutAlg Require Import ReadModel.
Import ListNotations.
Open Scope Z_scope.

(** A layout is a list of modes (extent, stride), the fastest first: [(4,2):(1,8)] is [[(4, 1); (2, 8)]]. A nested layout
    has the same values as the list of its leaves. *)
Definition layout := list (Z * Z).

Fixpoint size (l : layout) : Z := match l with [] => 1 | (n, _) :: l => n * size l end.

(** The offset at an index. As in CuTe, the last mode continues beyond its extent. *)
Fixpoint value (l : layout) (i : Z) : Z :=
  match l with
  | [] => 0
  | [(_, d)] => i * d
  | (n, d) :: l => i mod n * d + value l (i / n)
  end.

Definition positive (l : layout) := Forall (fun m => 0 < fst m) l.

(** ** Tiles of atoms *)

(** 16-byte units in a row of a swizzle, and the elements of a row. *)
Definition row_units m := span m / 16.
Definition row_elements e m := per16 e * row_units m.

(** An atom has [height] rows of [row_elements] contiguous elements. Its modes are (extent, stride) along MN and K. *)
Definition atom mj e m height : (Z * Z) * (Z * Z) :=
  match mj with
  | K => ((height, row_elements e m), (row_elements e m, 1))
  | MN => ((row_elements e m, 1), (height, row_elements e m))
  end.

(** The order in which [tile_to_shape] stacks atoms. *)
Inductive order := MN_first | K_first.

(** [tile_to_shape] of an atom, for M atoms along MN, N along K, and a third mode of stages: the three modes. *)
Definition tile_to_shape (a : (Z * Z) * (Z * Z)) o M N stages : layout * layout * layout :=
  let '((n0, d0), (n1, d1)) := a in
  let whole := n0 * n1 in
  ([(n0, d0); (M, match o with MN_first => whole | K_first => whole * N end)],
   [(n1, d1); (N, match o with MN_first => whole * M | K_first => whole end)],
   [(stages, whole * M * N)]).
