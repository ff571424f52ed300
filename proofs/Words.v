(** Descriptor words: the sum of their fields, and the theorem that decoding returns the fields.

    Python: [SmemDescriptor.encode] in [descriptors/smem/words/descriptor.py]. *)

From Coq Require Import ZArith Lia Bool.
From LayoutAlg Require Import Bits ReadModel.
Open Scope Z_scope.

Definition mode_code a m :=
  match a, m with
  | Sm90, No_swizzle => 0 | Sm90, B128 => 1 | Sm90, B64 => 2 | Sm90, _ => 3
  | _, No_swizzle => 0 | _, B128_base32 => 1 | _, B128 => 2 | _, B64 => 4 | _, B32 => 6
  end.

Definition encode a f :=
  start f / 16 + leading f / 16 * 2 ^ 16 + stride f / 16 * 2 ^ 32 + base_offset f * 2 ^ 49 +
  match a with
  | Sm90 => mode_code a (mode f) * 2 ^ 62
  | _ => 2 ^ 46 + (if absolute f then 2 ^ 52 else 0) + mode_code a (mode f) * 2 ^ 61
  end.

(** The fields can be stored: multiples of 16 bytes below 2^18, for the two addresses of sm107 below 2^19. *)
Definition address_fits a x := 0 <= x < 2 ^ (address_bits a + 4) /\ x mod 16 = 0.
Definition fits a f :=
  address_fits a (start f) /\ address_fits a (leading f) /\ address_fits Sm90 (stride f) /\ 0 <= base_offset f < 8 /\
  (a = Sm90 -> mode f <> B128_base32 /\ absolute f = false).

Ltac powers := repeat match goal with
  | |- context [2 ^ ?n] => let v := eval compute in (2 ^ n) in change (2 ^ n) with v
  | H : context [2 ^ ?n] |- _ => let v := eval compute in (2 ^ n) in change (2 ^ n) with v in H
  end.

(** A sum of numbers that fit their places has these numbers as its fields. *)
Lemma sum_field : forall low width below x above, 0 <= low -> 0 <= width -> 0 <= below < 2 ^ low ->
  0 <= x < 2 ^ width -> field (below + 2 ^ low * (x + 2 ^ width * above)) low width = x.
Proof.
  intros low width below x above Hl Hw Hb Hx. unfold field.
  rewrite (Z.mul_comm (2 ^ low)), Z.div_add, (Z.div_small below) by lia.
  rewrite Z.add_0_l, Z.mul_comm, Z.mod_add, Z.mod_small by lia. reflexivity.
Qed.

(** Decoding a word returns its fields. *)
Theorem decode_encode : forall a f, fits a f -> decode a (encode a f) = Some f /\ 0 <= encode a f < 2 ^ 64.
Proof.
  intros a [st le sr bo m ab] (Fs & Fl & Ft & Fb & Fm). cbn in Fs, Fl, Ft, Fb, Fm.
  unfold address_fits in *. destruct Fs as [Fs Ms], Fl as [Fl Ml], Ft as [Ft Mt].
  apply Z.mod_divide in Ms, Ml, Mt; try lia.
  destruct Ms as [s ->], Ml as [l ->], Mt as [t ->].
  assert (Hc : 0 <= mode_code a m < (match a with Sm90 => 4 | _ => 8 end)) by (destruct a, m; cbn; lia).
  assert (Hv : exists flag, (flag = 0 \/ flag = 1) /\ (if ab then 2 ^ 52 else 0) = flag * 2 ^ 52 /\ (flag =? 1) = ab)
    by (destruct ab; [exists 1 | exists 0]; (split; [lia|split; reflexivity])).
  destruct Hv as (flag & Hf & Ef & Hab).
  unfold encode, decode, meaningful, mode_of. cbn [start leading stride base_offset mode absolute].
  rewrite !Z.div_mul by lia. rewrite Ef.
  set (code := mode_code a m) in *.
  assert (E : forall low width w below x above, w = below + 2 ^ low * (x + 2 ^ width * above) -> 0 <= low ->
    0 <= width -> 0 <= below < 2 ^ low -> 0 <= x < 2 ^ width -> field w low width = x)
    by (intros; subst; apply sum_field; assumption).
  destruct a; cbn [address_bits] in *; powers.
  - destruct (Fm eq_refl) as [Fm1 ->].
    erewrite (E 62 2 _ (s + l * 65536 + t * 4294967296 + bo * 562949953421312) code 0); [|powers; lia ..].
    erewrite (E 0 14 _ 0 s (l * 4 + t * 262144 + bo * 34359738368 + code * 281474976710656)); [|powers; lia ..].
    erewrite (E 16 14 _ s l (t * 4 + bo * 524288 + code * 4294967296)); [|powers; lia ..].
    erewrite (E 32 14 _ (s + l * 65536) t (bo * 8 + code * 65536)); [|powers; lia ..].
    erewrite (E 49 3 _ (s + l * 65536 + t * 4294967296) bo (code * 1024)); [|powers; lia ..].
    split; [|lia]. subst code. destruct m; try reflexivity. contradiction Fm1; reflexivity.
  - erewrite (E 61 3 _ (s + l * 65536 + t * 4294967296 + bo * 562949953421312 + 70368744177664
        + flag * 4503599627370496) code 0); [|powers; lia ..].
    erewrite (E 46 3 _ (s + l * 65536 + t * 4294967296) 1 (bo + flag * 8 + code * 4096)); [|powers; lia ..].
    erewrite (E 0 14 _ 0 s (l * 4 + t * 262144 + 4294967296 + bo * 34359738368 + flag * 274877906944
        + code * 140737488355328)); [|powers; lia ..].
    erewrite (E 16 14 _ s l (t * 4 + 65536 + bo * 524288 + flag * 4194304 + code * 2147483648)); [|powers; lia ..].
    erewrite (E 32 14 _ (s + l * 65536) t (1 + bo * 8 + flag * 64 + code * 32768)); [|powers; lia ..].
    erewrite (E 49 3 _ (s + l * 65536 + t * 4294967296 + 70368744177664) bo (flag + code * 512)); [|powers; lia ..].
    erewrite (E 52 1 _ (s + l * 65536 + t * 4294967296 + 70368744177664 + bo * 562949953421312) flag (code * 256));
      [|powers; lia ..].
    rewrite Hab. split; [|lia]. subst code. destruct m; reflexivity.
  - erewrite (E 61 3 _ (s + l * 65536 + t * 4294967296 + bo * 562949953421312 + 70368744177664
        + flag * 4503599627370496) code 0); [|powers; lia ..].
    erewrite (E 53 1 _ (s + l * 65536 + t * 4294967296 + bo * 562949953421312 + 70368744177664
        + flag * 4503599627370496) 0 (code * 128)); [|powers; lia ..].
    erewrite (E 46 3 _ (s + l * 65536 + t * 4294967296) 1 (bo + flag * 8 + code * 4096)); [|powers; lia ..].
    erewrite (E 0 15 _ 0 s (l * 2 + t * 131072 + 2147483648 + bo * 17179869184 + flag * 137438953472
        + code * 70368744177664)); [|powers; lia ..].
    erewrite (E 16 15 _ s l (t * 2 + 32768 + bo * 262144 + flag * 2097152 + code * 1073741824)); [|powers; lia ..].
    erewrite (E 32 14 _ (s + l * 65536) t (1 + bo * 8 + flag * 64 + code * 32768)); [|powers; lia ..].
    erewrite (E 49 3 _ (s + l * 65536 + t * 4294967296 + 70368744177664) bo (flag + code * 512)); [|powers; lia ..].
    erewrite (E 52 1 _ (s + l * 65536 + t * 4294967296 + 70368744177664 + bo * 562949953421312) flag (code * 256));
      [|powers; lia ..].
    rewrite Hab. split; [|lia]. subst code. destruct m; reflexivity.
Qed.
