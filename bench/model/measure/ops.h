// The instructions whose rate and latency are measured: one row each. %0 is read and written, so
// that a chain of steps is dependent; %1 and %2 do not change. A value is a bare register: chains
// of conversions reinterpret its bits, which costs no instruction.
#pragma once
#include "measure.h"

namespace measure {

#ifdef __CUDA_ARCH__
constexpr int kArch = __CUDA_ARCH__;
#else
constexpr int kArch = 0;
#endif

// RIDGE_OP(name, type, constraint, first architecture, PTX)
#define RIDGE_OPS(X)                                                                               \
  /* 32-bit integers */                                                                            \
  X(imad, u32, "r", 0, "mad.lo.u32 %0,%0,%1,%2;")                                                  \
  X(imad_hi, u32, "r", 0, "mad.hi.u32 %0,%0,%1,%2;")                                               \
  X(imul, u32, "r", 0, "mul.lo.u32 %0,%0,%1;")                                                     \
  X(iadd3, u32, "r", 0, "{.reg .u32 t; add.u32 t,%1,%0; sub.u32 %0,%2,t;}")                        \
  X(lop3, u32, "r", 0, "lop3.b32 %0,%0,%1,%2,0x6a;")                                               \
  X(shf, u32, "r", 0, "shf.l.wrap.b32 %0,%0,%1,%2;")                                               \
  X(shl, u32, "r", 0, "{.reg .u32 t; shl.b32 t,%0,%1; xor.b32 %0,t,%2;}")                          \
  X(prmt, u32, "r", 0, "prmt.b32 %0,%0,%1,%2;")                                                    \
  X(lea, u32, "r", 0, "{.reg .u32 t; shl.b32 t,%0,3; add.u32 %0,t,%1;}")                           \
  X(min_max_s32, u32, "r", 0, "{.reg .s32 t; max.s32 t,%0,%1; min.s32 %0,t,%2;}")                  \
  X(setp_selp, u32, "r", 0, "{.reg .pred p; setp.lt.s32 p,%0,%1; selp.b32 %0,%2,%0,p;}")           \
  X(popc, u32, "r", 0, "popc.b32 %0,%0;")                                                          \
  X(bfind, u32, "r", 0, "bfind.u32 %0,%0;")                                                        \
  X(brev, u32, "r", 0, "{.reg .u32 t; brev.b32 t,%0; add.u32 %0,t,%1;}")                           \
  X(bfe, u32, "r", 0, "bfe.u32 %0,%0,%1,%2;")                                                      \
  X(dp4a, u32, "r", 0, "dp4a.u32.u32 %0,%1,%2,%0;")                                                \
  X(div_u32, u32, "r", 0, "div.u32 %0,%1,%0;")                                                     \
  X(rem_u32, u32, "r", 0, "rem.u32 %0,%1,%0;")                                                     \
  /* 64-bit integers */                                                                            \
  X(imad_wide, u64, "l", 0,                                                                        \
    "{.reg .u32 a,b,c,d; mov.b64 {a,b},%0; mov.b64 {c,d},%1; mad.wide.u32 %0,a,c,%2;}")            \
  X(iadd_64, u64, "l", 0, "{.reg .u64 t; add.u64 t,%0,%1; xor.b64 %0,t,%2;}")                      \
  X(imad_64, u64, "l", 0, "mad.lo.u64 %0,%0,%1,%2;")                                               \
  X(div_u64, u64, "l", 0, "div.u64 %0,%1,%0;")                                                     \
  /* f32 */                                                                                        \
  X(ffma, float, "f", 0, "fma.rn.f32 %0,%0,%1,%2;")                                                \
  X(fadd, float, "f", 0, "add.rn.f32 %0,%0,%1;")                                                   \
  X(fmul, float, "f", 0, "mul.rn.f32 %0,%0,%1;")                                                   \
  X(min_max_f32, float, "f", 0, "{.reg .f32 t; max.f32 t,%0,%1; min.f32 %0,t,%2;}")                \
  X(setp_selp_f32, float, "f", 0, "{.reg .pred p; setp.lt.f32 p,%0,%1; selp.f32 %0,%2,%0,p;}")     \
  X(mufu_ex2, float, "f", 0, "ex2.approx.ftz.f32 %0,%0;")                                          \
  X(mufu_lg2, float, "f", 0, "lg2.approx.ftz.f32 %0,%0;")                                          \
  X(mufu_rcp, float, "f", 0, "{.reg .f32 t; rcp.approx.ftz.f32 t,%0; add.rn.f32 %0,t,%1;}")        \
  X(mufu_rsq, float, "f", 0, "rsqrt.approx.ftz.f32 %0,%0;")                                        \
  X(mufu_sqrt, float, "f", 0, "sqrt.approx.ftz.f32 %0,%0;")                                        \
  X(mufu_sin, float, "f", 0, "sin.approx.ftz.f32 %0,%0;")                                          \
  X(mufu_cos, float, "f", 0, "cos.approx.ftz.f32 %0,%0;")                                          \
  X(mufu_tanh, float, "f", 750, "tanh.approx.f32 %0,%0;")                                          \
  X(ex2_denormals, float, "f", 0, "ex2.approx.f32 %0,%0;")                                         \
  X(div_approx, float, "f", 0, "div.approx.f32 %0,%1,%0;")                                         \
  X(div_rn, float, "f", 0, "div.rn.f32 %0,%1,%0;")                                                 \
  X(sqrt_rn, float, "f", 0, "sqrt.rn.f32 %0,%0;")                                                  \
  X(rcp_rn, float, "f", 0, "rcp.rn.f32 %0,%0;")                                                    \
  /* f64 */                                                                                        \
  X(dfma, double, "d", 0, "fma.rn.f64 %0,%0,%1,%2;")                                               \
  X(dadd, double, "d", 0, "add.rn.f64 %0,%0,%1;")                                                  \
  X(dmul, double, "d", 0, "mul.rn.f64 %0,%0,%1;")                                                  \
  X(dsetp_selp, double, "d", 0, "{.reg .pred p; setp.lt.f64 p,%0,%1; selp.f64 %0,%2,%0,p;}")       \
  X(div_f64, double, "d", 0, "div.rn.f64 %0,%1,%0;")                                               \
  X(sqrt_f64, double, "d", 0, "sqrt.rn.f64 %0,%0;")                                                \
  /* two halves */                                                                                 \
  X(hfma2, u32, "r", 530, "fma.rn.f16x2 %0,%0,%1,%2;")                                             \
  X(hadd2, u32, "r", 530, "add.rn.f16x2 %0,%0,%1;")                                                \
  X(hmul2, u32, "r", 530, "mul.rn.f16x2 %0,%0,%1;")                                                \
  X(hfma2_bf16, u32, "r", 800, "fma.rn.bf16x2 %0,%0,%1,%2;")                                       \
  X(min_max_f16x2, u32, "r", 800, "{.reg .b32 t; max.f16x2 t,%0,%1; min.f16x2 %0,t,%2;}")          \
  X(ex2_f16x2, u32, "r", 750, "ex2.approx.f16x2 %0,%0;")                                           \
  X(tanh_f16x2, u32, "r", 750, "tanh.approx.f16x2 %0,%0;")                                         \
  /* conversions */                                                                                \
  X(cvt_s32_f32, u32, "r", 0, "{.reg .f32 f; mov.b32 f,%0; cvt.rni.s32.f32 %0,f;}")                \
  X(cvt_f32_s32, u32, "r", 0, "{.reg .f32 f; cvt.rn.f32.s32 f,%0; mov.b32 %0,f;}")                 \
  X(cvt_f32_u8, u32, "r", 0,                                                                       \
    "{.reg .f32 f; .reg .u8 b; cvt.u8.u32 b,%0; cvt.rn.f32.u8 f,b; mov.b32 %0,f;}")                \
  X(cvt_u8_f32, u32, "r", 0,                                                                       \
    "{.reg .f32 f; .reg .u8 b; mov.b32 f,%0; cvt.rni.u8.f32 b,f; cvt.u32.u8 %0,b;}")               \
  X(cvt_s64_f32, u64, "l", 0, "{.reg .f32 f,g; mov.b64 {f,g},%0; cvt.rni.s64.f32 %0,f;}")          \
  X(cvt_f64_f32, u64, "l", 0,                                                                      \
    "{.reg .f32 f,g; .reg .f64 d; mov.b64 {f,g},%0; cvt.f64.f32 d,f; mov.b64 %0,d;}")              \
  X(cvt_f32_f64, u64, "l", 0,                                                                      \
    "{.reg .f32 f; .reg .f64 d; mov.b64 d,%0; cvt.rn.f32.f64 f,d; mov.b64 %0,{f,f};}")             \
  X(cvt_f64_s32, u64, "l", 0,                                                                      \
    "{.reg .s32 f,g; .reg .f64 d; mov.b64 {f,g},%0; cvt.rn.f64.s32 d,f; mov.b64 %0,d;}")           \
  X(cvt_s32_f64, u64, "l", 0,                                                                      \
    "{.reg .s32 f; .reg .f64 d; mov.b64 d,%0; cvt.rni.s32.f64 f,d; mov.b64 %0,{f,f};}")            \
  X(round_f32, float, "f", 0, "cvt.rni.f32.f32 %0,%0;")                                            \
  X(cvt_f32_f16, u32, "r", 0,                                                                      \
    "{.reg .f32 f; .reg .b16 l,h; mov.b32 {l,h},%0; cvt.f32.f16 f,l; mov.b32 %0,f;}")              \
  X(cvt_f16x2_f32, u32, "r", 800,                                                                  \
    "{.reg .f32 f,g; mov.b32 f,%0; mov.b32 g,%1; cvt.rn.f16x2.f32 %0,f,g;}")                       \
  X(cvt_bf16x2_f32, u32, "r", 800,                                                                 \
    "{.reg .f32 f,g; mov.b32 f,%0; mov.b32 g,%1; cvt.rn.bf16x2.f32 %0,f,g;}")                      \
  X(cvt_tf32_f32, u32, "r", 800, "{.reg .f32 f; mov.b32 f,%0; cvt.rna.tf32.f32 %0,f;}")            \
  X(cvt_e4m3x2_f32, u32, "r", 890,                                                                 \
    "{.reg .f32 f,g; .reg .b16 h; mov.b32 f,%0; mov.b32 g,%1; cvt.rn.satfinite.e4m3x2.f32 h,f,g; " \
    "mov.b32 %0,{h,h};}")                                                                          \
  X(cvt_f16x2_e4m3x2, u32, "r", 890,                                                               \
    "{.reg .b16 l,h; mov.b32 {l,h},%0; cvt.rn.f16x2.e4m3x2 %0,l;}")                                \
  X(cvt_f16_s32, u32, "r", 0, "{.reg .b16 h; cvt.rn.f16.s32 h,%0; mov.b32 %0,{h,h};}")             \
  /* lanes of a warp */                                                                            \
  X(shfl, u32, "r", 0, "shfl.sync.bfly.b32 %0,%0,1,31,-1;")                                        \
  X(shfl_idx, u32, "r", 0, "shfl.sync.idx.b32 %0,%0,%0,31,-1;")                                    \
  X(ballot, u32, "r", 0, "{.reg .pred p; setp.ne.u32 p,%0,%1; vote.sync.ballot.b32 %0,p,-1;}")     \
  X(vote_any, u32, "r", 0,                                                                         \
    "{.reg .pred p; setp.ne.u32 p,%0,%1; vote.sync.any.pred p,p,-1; selp.u32 %0,%2,%0,p;}")        \
  X(match_any, u32, "r", 700, "match.any.sync.b32 %0,%0,-1;")                                      \
  X(match_all, u32, "r", 700, "{.reg .pred p; match.all.sync.b32 %0|p,%0,-1;}")                    \
  X(redux_add, u32, "r", 800, "redux.sync.add.s32 %0,%0,-1;")                                      \
  X(redux_max, u32, "r", 800, "redux.sync.max.s32 %0,%0,-1;")                                      \
  X(redux_xor, u32, "r", 800, "redux.sync.xor.b32 %0,%0,-1;")

#define RIDGE_OP(name_, type, constraint, from, text)                          \
  struct name_ {                                                               \
    using T = type;                                                            \
    static constexpr const char* kName = #name_;                               \
    static constexpr const char* kText = text;                                 \
    static constexpr int kFrom = from;                                         \
    static __device__ __forceinline__ void step(T& x, T a, T b) {              \
      if constexpr (kArch >= from)                                             \
        asm volatile(text : "+" constraint(x) : constraint(a), constraint(b)); \
    }                                                                          \
  };
namespace op {
RIDGE_OPS(RIDGE_OP)
}
#undef RIDGE_OP

}  // namespace measure
