// PTX to read, cut and corrupt: what nvcc makes of a small program, and a module with a bit of
// everything.
#pragma once

#include <string_view>

namespace ridge::vm {

inline constexpr std::string_view kCompiledPtx = R"ptx(.version 9.0
.target sm_90
.address_size 64

.func  (.param .b32 func_retval0) _ZN6sample5firstEiNS_4PairE
(
	.param .b32 _ZN6sample5firstEiNS_4PairE_param_0,
	.param .align 8 .b8 _ZN6sample5firstEiNS_4PairE_param_1[16]
)
;
.func  (.param .b32 func_retval0) _ZN6sample6secondEiNS_4PairE
(
	.param .b32 _ZN6sample6secondEiNS_4PairE_param_0,
	.param .align 8 .b8 _ZN6sample6secondEiNS_4PairE_param_1[16]
)
;
// _ZZN6sample4pickENS_4PairEPfiE4sums has been demoted
.const .align 4 .b8 _ZN6sample7weightsE[24] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64, 0, 0, 160, 64, 0, 0, 192, 64};
.global .align 4 .u32 _ZN6sample7counterE = -3;
.global .align 8 .u64 _ZN6sample15counter_pointerE = generic(_ZN6sample7counterE);
.global .align 8 .u64 _ZN6sample5picksE[2] = {_ZN6sample5firstEiNS_4PairE, _ZN6sample6secondEiNS_4PairE};
.extern .shared .align 16 .b8 _ZN6sample4tileE[];

.func  (.param .b32 func_retval0) _ZN6sample5firstEiNS_4PairE(
	.param .b32 _ZN6sample5firstEiNS_4PairE_param_0,
	.param .align 8 .b8 _ZN6sample5firstEiNS_4PairE_param_1[16]
)
{
	.reg .b32 	%r<4>;
	.loc	1 7 0


	ld.param.u32 	%r1, [_ZN6sample5firstEiNS_4PairE_param_0];
	ld.param.u32 	%r2, [_ZN6sample5firstEiNS_4PairE_param_1];
	.loc	1 7 42
	add.s32 	%r3, %r2, %r1;
	st.param.b32 	[func_retval0+0], %r3;
	ret;

}
.func  (.param .b32 func_retval0) _ZN6sample6secondEiNS_4PairE(
	.param .b32 _ZN6sample6secondEiNS_4PairE_param_0,
	.param .align 8 .b8 _ZN6sample6secondEiNS_4PairE_param_1[16]
)
{
	.reg .b32 	%r<4>;
	.reg .f64 	%fd<2>;
	.loc	1 8 0


	ld.param.u32 	%r1, [_ZN6sample6secondEiNS_4PairE_param_0];
	ld.param.f64 	%fd1, [_ZN6sample6secondEiNS_4PairE_param_1+8];
	.loc	1 8 42
	cvt.rzi.s32.f64 	%r2, %fd1;
	mul.lo.s32 	%r3, %r2, %r1;
	st.param.b32 	[func_retval0+0], %r3;
	ret;

}
	// .globl	_ZN6sample4pickENS_4PairEPfi
.visible .entry _ZN6sample4pickENS_4PairEPfi(
	.param .align 8 .b8 _ZN6sample4pickENS_4PairEPfi_param_0[16],
	.param .u64 _ZN6sample4pickENS_4PairEPfi_param_1,
	.param .u32 _ZN6sample4pickENS_4PairEPfi_param_2
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .pred 	%p<2>;
	.reg .f32 	%f<15>;
	.reg .b32 	%r<29>;
	.reg .f64 	%fd<8>;
	.reg .b64 	%rd<17>;
	.loc	1 11 0
	// demoted variable
	.shared .align 8 .b8 _ZZN6sample4pickENS_4PairEPfiE4sums[256];

	ld.param.u64 	%rd4, [_ZN6sample4pickENS_4PairEPfi_param_1];
	ld.param.u32 	%r3, [_ZN6sample4pickENS_4PairEPfi_param_2];
	ld.param.f64 	%fd1, [_ZN6sample4pickENS_4PairEPfi_param_0+8];
	ld.param.u32 	%r2, [_ZN6sample4pickENS_4PairEPfi_param_0];
	.loc	1 14 3
	cvta.to.global.u64 	%rd1, %rd4;
	mov.u32 	%r6, %ntid.x;
	mov.u32 	%r7, %ctaid.x;
	mov.u32 	%r8, %tid.x;
	mad.lo.s32 	%r9, %r7, %r6, %r8;
	.loc	1 15 3
	cvt.s64.s32 	%rd2, %r9;
	mul.wide.s32 	%rd5, %r9, 4;
	add.s64 	%rd3, %rd1, %rd5;
	ld.global.f32 	%f1, [%rd3];
	shl.b32 	%r10, %r9, 2;
	mov.u32 	%r11, _ZN6sample4tileE;
	add.s32 	%r12, %r11, %r10;
	st.shared.f32 	[%r12], %f1;
	.loc	1 16 3
	.loc	1 10 73, function_name $L__info_string0, inlined_at 1 16 3
	add.f32 	%f2, %f1, %f1;
	.loc	1 16 3
	cvt.f64.f32 	%fd2, %f2;
	shl.b32 	%r13, %r9, 3;
	and.b32  	%r14, %r13, 248;
	mov.u32 	%r15, _ZZN6sample4pickENS_4PairEPfiE4sums;
	add.s32 	%r16, %r15, %r14;
	st.shared.f64 	[%r16], %fd2;
	.loc	1 17 3
	// begin inline asm
	bar.sync 0;
	// end inline asm
	.loc	1 19 3
	// begin inline asm
	{.reg .pred q; .reg .b32 r; shfl.sync.down.b32 r|q, %r3, 1, 31, -1; @!q mov.b32 r, 0; selp.b32 %r4, r, 0, q;}
	// end inline asm
	.loc	1 20 3
	setp.gt.s32 	%p1, %r3, 3;
	@%p1 bra 	$L__BB2_2;
	bra.uni 	$L__BB2_1;

$L__BB2_2:
	.loc	1 0 3
	cvt.u32.u64 	%r17, %rd2;
	.loc	1 20 3
	and.b32  	%r18, %r3, 1;
	shl.b32 	%r19, %r3, 3;
	cvt.u64.u32 	%rd7, %r19;
	and.b64  	%rd8, %rd7, 8;
	mov.u64 	%rd9, _ZN6sample5picksE;
	add.s64 	%rd10, %rd9, %rd8;
	ld.global.u64 	%rd11, [%rd10];
	{ // callseq 0, 0
	.reg .b32 temp_param_reg;
	.param .b32 param0;
	st.param.b32 	[param0+0], %r4;
	.param .align 8 .b8 param1[16];
	st.param.b32 	[param1+0], %r2;
	st.param.f64 	[param1+8], %fd1;
	.param .b32 retval0;
	prototype_0 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);
	call (retval0), 
	%rd11, 
	(
	param0, 
	param1
	)
	, prototype_0;
	ld.param.b32 	%r20, [retval0+0];
	} // callseq 0
	cvt.rn.f32.s32 	%f3, %r20;
	shl.b32 	%r21, %r17, 2;
	xor.b32  	%r22, %r21, 4;
	add.s32 	%r24, %r11, %r22;
	ld.shared.f32 	%f4, [%r24];
	add.f32 	%f5, %f4, %f3;
	cvt.f64.f32 	%fd3, %f5;
	shl.b32 	%r25, %r17, 3;
	and.b32  	%r26, %r25, 56;
	add.s32 	%r28, %r15, %r26;
	ld.shared.f64 	%fd4, [%r28];
	add.f64 	%fd5, %fd4, %fd3;
	mul.wide.s32 	%rd12, %r18, 12;
	mov.u64 	%rd13, _ZN6sample7weightsE;
	add.s64 	%rd14, %rd13, %rd12;
	ld.const.f32 	%f6, [%rd14+8];
	cvt.f64.f32 	%fd6, %f6;
	add.f64 	%fd7, %fd5, %fd6;
	cvt.rn.f32.f64 	%f7, %fd7;
	st.global.f32 	[%rd3], %f7;
	bra.uni 	$L__BB2_3;

$L__BB2_1:
	.loc	1 21 8
	ld.global.u64 	%rd6, [_ZN6sample15counter_pointerE];
	st.u32 	[%rd6], %r3;

$L__BB2_3:
	.loc	1 22 3
	mul.lo.s64 	%rd15, %rd2, 12;
	add.s64 	%rd16, %rd3, %rd15;
	ld.global.v4.f32 	{%f8, %f9, %f10, %f11}, [%rd16];
	.loc	1 23 3
	fma.rn.f32 	%f14, %f11, 0f3FC00000, %f8;
	st.global.f32 	[%rd1], %f14;
	.loc	1 24 1
	ret;

}
	.file	1 "sample.cu"
	.section	.debug_str
	{
$L__info_string0:
.b8 95,90,78,54,115,97,109,112,108,101,53,116,119,105,99,101,69,102,0

	}
)ptx";

inline constexpr std::string_view kEverythingPtx = R"ptx(.version 8.4
.target sm_90a, debug
.address_size 64
/* every corner of the grammar, /* once */
.file 1 "a \"quoted\" name.cu", 1700000000, 42
.pragma "nounroll";
.extern .shared .align 16 .b8 dynamic[];
.global .texref image;
.global .samplerref smp = { addr_mode_0 = clamp_to_border, filter_mode = nearest };
.visible .global .align 8 .v4 .f32 quads[2] = {{1.0, -2.0, .5, 0f3F800000}, {0d3FF0000000000000}};
.global .s32 grid[2][3] = {{1, -2, 0x3}, {017, 0b101, (1 + 2) * 3 << 1}};
.func (.param .b32 r) callee (.param .b32 a, .param .align 4 .b8 b[8]) .noreturn;
.weak .global .u64 links[4] = {grid, generic(grid) + 4, generic(grid+8), callee};
.func helper (.reg .b32 x) { add.s32 x, x, 1; ret; }
.func other;
.alias other, helper;
.visible .entry all(.param .u64 .ptr .global .align 8 p, .param .b8 tail[])
.maxntid 32, 2 .reqntid 32 .minnctapersm 1 .maxnreg 64 .explicitcluster .reqnctapercluster 2, 1, 1
.maxclusterrank 8 .pragma "x";
{
  .reg .b32 %r<9>, %s; .reg.pred %p<3>; .reg .v4 .f32 v; .reg .b64 %rd<4>;
  .shared .align 16 .b8 tile[64]; .local .b64 spill[2];
  .loc 1 3 4
  .loc 1 9 9, function_name $info+4, inlined_at 1 3 4
  @!%p1 bra DONE;
AGAIN: shfl.sync.idx.b32 %r1|%p1, %r2, 0x1f, 31, 0xFFFFFFFF;
  setp.lt.and.f32 %p1|%p2, v.x, v.g, !%p0;
  mov .u32 %r1, WARP_SZ * 2 - (~1 & 7) + (3 > 2 ? 1 : 0);
  ld.global.v4.f32 v, [quads+16+-8]; st.shared.b32 [tile+4*2], %tid.x;
  tex.2d.v4.f32.f32 {%r1, _, %r2, %r3}, [image, smp, {v.x, v.y}];
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [tile];
  { .reg .b32 %r1; .param .b32 in; .param .b32 out; st.param.b32 [in], %r1;
    proto: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;
    call.uni (out), callee, (in, 5); call (out), %rd1, (in), proto; call other; DONE: bra DONE; }
  targets: .branchtargets AGAIN, DONE; brx.idx %s, targets; fns: .calltargets callee, helper;
  mov.u64 %rd1, grid[2]; fma.rn.f32 v.w, v.x, 0fBF800000, 1.5e-3; vadd.s32 %r1, %r2.b3, %r3.h1;
DONE:
  ret; // }
}
)ptx";

}  // namespace ridge::vm
