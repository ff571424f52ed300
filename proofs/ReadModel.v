(** The read model: the address from which the tensor core reads each element of an operand. This file has definitions
    only. All theorems about descriptors assume them; for sm90 they are measured on a GPU, for sm100 and sm107 they are
    those of the PTX manual.

    Python: [descriptors/smem/proof/read_model.py], whose functions have the names given below. A test evaluates these
    definitions and compares them with the Python code on random words. *)

From Coq Require Import ZArith Bool.
From LayoutAlg Require Import Bits.
Open Scope Z_scope.

Inductive arch := Sm90 | Sm100 | Sm107.
Inductive major := K | MN.
Inductive swizzle_mode := No_swizzle | B32 | B64 | B128 | B128_base32.

(** A swizzle pattern ([Pattern]): bytes of a row, number and position of the changed bits of an address, and rows of K
    in a group of an MN-major operand. *)
Definition span m := match m with No_swizzle => 16 | B32 => 32 | B64 => 64 | B128 | B128_base32 => 128 end.
Definition bits m := match m with No_swizzle => 0 | B32 => 1 | B64 => 2 | B128 => 3 | B128_base32 => 2 end.
Definition position m := match m with B128_base32 => 5 | _ => 4 end.
Definition group_rows m := match m with B128_base32 => 4 | _ => 8 end.

(** An element type ([_ELEMENTS]): it takes 2^storage bits of shared memory. Within 16 bytes, the starts of two elements
    are [step] bits apart. The two differ for 6-bit and 4-bit types in 16-byte containers. *)
Record element := Element { storage : Z; step : Z }.
Definition tf32 := Element 5 32.
Definition bf16 := Element 4 16.
Definition f16 := Element 4 16.
Definition s1z4m11 := Element 4 16.
Definition e4m3 := Element 3 8.
Definition e5m2 := Element 3 8.
Definition s8 := Element 3 8.
Definition u8 := Element 3 8.
Definition e2m3 := Element 3 6.
Definition e3m2 := Element 3 6.
Definition e2m1_unpacksmem := Element 3 4.
Definition e2m1 := Element 2 4.

(** Number of elements in 16 bytes. *)
Definition per16 e := 2 ^ (7 - storage e).

(** ** The fields of a word ([_fields]), with addresses and offsets in bytes. *)
Record fields := Fields {
  start : Z; leading : Z; stride : Z; base_offset : Z; mode : swizzle_mode;
  absolute : bool  (** LBO mode 1: the leading offset is an address *) }.

Definition address_bits a := match a with Sm107 => 15 | _ => 14 end.
Definition field w low width := w / 2 ^ low mod 2 ^ width.

Definition mode_of a w : option swizzle_mode :=
  match a with
  | Sm90 => match field w 62 2 with 0 => Some No_swizzle | 1 => Some B128 | 2 => Some B64 | _ => Some B32 end
  | _ => match field w 61 3 with
         | 0 => Some No_swizzle | 1 => Some B128_base32 | 2 => Some B128 | 4 => Some B64 | 6 => Some B32 | _ => None end
  end.

(** Words without meaning: another version than 1 on sm100 and sm107, and half a row of a compressed operand (bit 53 of
    sm107). *)
Definition meaningful a w : bool :=
  match a with
  | Sm90 => true
  | Sm100 => field w 46 3 =? 1
  | Sm107 => (field w 46 3 =? 1) && (field w 53 1 =? 0)
  end.

Definition decode a w : option fields :=
  match mode_of a w with
  | Some m => if meaningful a w
      then Some (Fields (field w 0 (address_bits a) * 16) (field w 16 (address_bits a) * 16) (field w 32 14 * 16)
                        (field w 49 3) m (match a with Sm90 => false | _ => field w 52 1 =? 1 end))
      else None
  | None => None
  end.

(** ** The walk ([_walk]). The operand consists of 16-byte units. Unit q is the q-th along the contiguous dimension, and
    row r is an index across it. *)
Definition swizzled m := negb (bits m =? 0).

(** Bytes from the start to unit q. With LBO mode 1, units beyond the 128-byte line of the start are in the line at the
    leading address ([begins]). *)
Definition along f mj q :=
  let b := 16 * q in
  if absolute f then (if start f mod 128 + b <? 128 then b else leading f + start f mod 128 - 128 + b - start f)
  else match mj with
  | K => q * (if swizzled (mode f) then 16 else leading f)
  | MN => b mod span (mode f) + b / span (mode f) * (if swizzled (mode f) then leading f else stride f)
  end.

(** Bytes from row 0 to row r. *)
Definition across f mj r :=
  match mj with
  | K => r mod 8 * span (mode f) + r / 8 * stride f
  | MN => let n := group_rows (mode f) in
      r mod n * span (mode f) + r / n * (if swizzled (mode f) then stride f else leading f)
  end.

(** The conditions of LBO mode 1 ([_check_absolute]): K-major, 128B, base offset 0, a leading address that is a multiple
    of 128, and at most 48 bytes of K. *)
Definition absolute_allowed f mj q : bool :=
  match mj, mode f with
  | K, B128 => (base_offset f =? 0) && (leading f mod 128 =? 0) && (q <? 3)
  | _, _ => false
  end.

(** Indices along the contiguous dimension and across it. *)
Definition inner mj (i k : Z) := match mj with K => k | MN => i end.
Definition outer mj (i k : Z) := match mj with K => i | MN => k end.

(** The address of element (i, k) in bits ([read_rows] with [in_bits], for i along M or N), or [None] if the word has no
    meaning. For types of whole bytes it is 8 times the address in bytes. *)
Definition read a w e mj i k : option Z :=
  match decode a w with
  | None => None
  | Some f =>
      let c := inner mj i k in
      let q := c / per16 e in
      if absolute f && negb (absolute_allowed f mj q) then None
      else Some (8 * permute (bits (mode f)) (position (mode f)) (base_offset f)
                             (start f + along f mj q + across f mj (outer mj i k))
                 + c mod per16 e * step e)
  end.
