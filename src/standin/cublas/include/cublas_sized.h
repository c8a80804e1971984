// Included twice by cublas_api.h, so without a guard: RIDGE_CUBLAS_INT is the type of sizes, and
// RIDGE_CUBLAS(name) the name of the function with that type. C has no __half, and so none of the
// functions that take one.

// --- Copies between host and device: elements of any size ---

cublasStatus_t RIDGE_CUBLAS(cublasSetVector)(RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT elemSize,
                                             const void* x, RIDGE_CUBLAS_INT incx, void* y,
                                             RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasSetVectorAsync)(RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT elemSize,
                                                  const void* x, RIDGE_CUBLAS_INT incx, void* y,
                                                  RIDGE_CUBLAS_INT incy, cudaStream_t stream);
cublasStatus_t RIDGE_CUBLAS(cublasSetMatrix)(RIDGE_CUBLAS_INT rows, RIDGE_CUBLAS_INT cols,
                                             RIDGE_CUBLAS_INT elemSize, const void* A,
                                             RIDGE_CUBLAS_INT lda, void* B, RIDGE_CUBLAS_INT ldb);
cublasStatus_t RIDGE_CUBLAS(cublasSetMatrixAsync)(RIDGE_CUBLAS_INT rows, RIDGE_CUBLAS_INT cols,
                                                  RIDGE_CUBLAS_INT elemSize, const void* A,
                                                  RIDGE_CUBLAS_INT lda, void* B,
                                                  RIDGE_CUBLAS_INT ldb, cudaStream_t stream);
cublasStatus_t RIDGE_CUBLAS(cublasGetVector)(RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT elemSize,
                                             const void* x, RIDGE_CUBLAS_INT incx, void* y,
                                             RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasGetVectorAsync)(RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT elemSize,
                                                  const void* x, RIDGE_CUBLAS_INT incx, void* y,
                                                  RIDGE_CUBLAS_INT incy, cudaStream_t stream);
cublasStatus_t RIDGE_CUBLAS(cublasGetMatrix)(RIDGE_CUBLAS_INT rows, RIDGE_CUBLAS_INT cols,
                                             RIDGE_CUBLAS_INT elemSize, const void* A,
                                             RIDGE_CUBLAS_INT lda, void* B, RIDGE_CUBLAS_INT ldb);
cublasStatus_t RIDGE_CUBLAS(cublasGetMatrixAsync)(RIDGE_CUBLAS_INT rows, RIDGE_CUBLAS_INT cols,
                                                  RIDGE_CUBLAS_INT elemSize, const void* A,
                                                  RIDGE_CUBLAS_INT lda, void* B,
                                                  RIDGE_CUBLAS_INT ldb, cudaStream_t stream);

// --- Vectors. Element i of a vector with a negative increment lies at (i - (n - 1)) * inc ---

// y += alpha x
cublasStatus_t RIDGE_CUBLAS(cublasSaxpy_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const float* alpha, const float* x,
                                            RIDGE_CUBLAS_INT incx, float* y, RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasDaxpy_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const double* alpha, const double* x,
                                            RIDGE_CUBLAS_INT incx, double* y,
                                            RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasAxpyEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                          const void* alpha, cudaDataType alphaType, const void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx, void* y,
                                          cudaDataType yType, RIDGE_CUBLAS_INT incy,
                                          cudaDataType executionType);
// x *= alpha
cublasStatus_t RIDGE_CUBLAS(cublasSscal_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const float* alpha, float* x, RIDGE_CUBLAS_INT incx);
cublasStatus_t RIDGE_CUBLAS(cublasDscal_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const double* alpha, double* x, RIDGE_CUBLAS_INT incx);
cublasStatus_t RIDGE_CUBLAS(cublasScalEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                          const void* alpha, cudaDataType alphaType, void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx,
                                          cudaDataType executionType);
// y = x
cublasStatus_t RIDGE_CUBLAS(cublasScopy_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const float* x, RIDGE_CUBLAS_INT incx, float* y,
                                            RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasDcopy_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const double* x, RIDGE_CUBLAS_INT incx, double* y,
                                            RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasCopyEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx, void* y,
                                          cudaDataType yType, RIDGE_CUBLAS_INT incy);
// x, y = y, x
cublasStatus_t RIDGE_CUBLAS(cublasSswap_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, float* x,
                                            RIDGE_CUBLAS_INT incx, float* y, RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasDswap_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, double* x,
                                            RIDGE_CUBLAS_INT incx, double* y,
                                            RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasSwapEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx, void* y,
                                          cudaDataType yType, RIDGE_CUBLAS_INT incy);
// x, y = c x + s y, c y - s x
cublasStatus_t RIDGE_CUBLAS(cublasSrot_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, float* x,
                                           RIDGE_CUBLAS_INT incx, float* y, RIDGE_CUBLAS_INT incy,
                                           const float* c, const float* s);
cublasStatus_t RIDGE_CUBLAS(cublasDrot_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, double* x,
                                           RIDGE_CUBLAS_INT incx, double* y, RIDGE_CUBLAS_INT incy,
                                           const double* c, const double* s);
cublasStatus_t RIDGE_CUBLAS(cublasRotEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, void* x,
                                         cudaDataType xType, RIDGE_CUBLAS_INT incx, void* y,
                                         cudaDataType yType, RIDGE_CUBLAS_INT incy, const void* c,
                                         const void* s, cudaDataType csType,
                                         cudaDataType executionType);
// The sum of x y
cublasStatus_t RIDGE_CUBLAS(cublasSdot_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                           const float* x, RIDGE_CUBLAS_INT incx, const float* y,
                                           RIDGE_CUBLAS_INT incy, float* result);
cublasStatus_t RIDGE_CUBLAS(cublasDdot_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                           const double* x, RIDGE_CUBLAS_INT incx, const double* y,
                                           RIDGE_CUBLAS_INT incy, double* result);
cublasStatus_t RIDGE_CUBLAS(cublasDotEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                         cudaDataType xType, RIDGE_CUBLAS_INT incx, const void* y,
                                         cudaDataType yType, RIDGE_CUBLAS_INT incy, void* result,
                                         cudaDataType resultType, cudaDataType executionType);
cublasStatus_t RIDGE_CUBLAS(cublasDotcEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx, const void* y,
                                          cudaDataType yType, RIDGE_CUBLAS_INT incy, void* result,
                                          cudaDataType resultType, cudaDataType executionType);
// The sum of |x|, and the root of the sum of the squares
cublasStatus_t RIDGE_CUBLAS(cublasSasum_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const float* x, RIDGE_CUBLAS_INT incx, float* result);
cublasStatus_t RIDGE_CUBLAS(cublasDasum_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const double* x, RIDGE_CUBLAS_INT incx, double* result);
cublasStatus_t RIDGE_CUBLAS(cublasAsumEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx, void* result,
                                          cudaDataType resultType, cudaDataType executionType);
cublasStatus_t RIDGE_CUBLAS(cublasSnrm2_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const float* x, RIDGE_CUBLAS_INT incx, float* result);
cublasStatus_t RIDGE_CUBLAS(cublasDnrm2_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                            const double* x, RIDGE_CUBLAS_INT incx, double* result);
cublasStatus_t RIDGE_CUBLAS(cublasNrm2Ex)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                          cudaDataType xType, RIDGE_CUBLAS_INT incx, void* result,
                                          cudaDataType resultType, cudaDataType executionType);
// The first index, counted from 1, of the greatest or smallest |x|
cublasStatus_t RIDGE_CUBLAS(cublasIsamax_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                             const float* x, RIDGE_CUBLAS_INT incx,
                                             RIDGE_CUBLAS_INT* result);
cublasStatus_t RIDGE_CUBLAS(cublasIdamax_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                             const double* x, RIDGE_CUBLAS_INT incx,
                                             RIDGE_CUBLAS_INT* result);
cublasStatus_t RIDGE_CUBLAS(cublasIamaxEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                           cudaDataType xType, RIDGE_CUBLAS_INT incx,
                                           RIDGE_CUBLAS_INT* result);
cublasStatus_t RIDGE_CUBLAS(cublasIsamin_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                             const float* x, RIDGE_CUBLAS_INT incx,
                                             RIDGE_CUBLAS_INT* result);
cublasStatus_t RIDGE_CUBLAS(cublasIdamin_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT n,
                                             const double* x, RIDGE_CUBLAS_INT incx,
                                             RIDGE_CUBLAS_INT* result);
cublasStatus_t RIDGE_CUBLAS(cublasIaminEx)(cublasHandle_t handle, RIDGE_CUBLAS_INT n, const void* x,
                                           cudaDataType xType, RIDGE_CUBLAS_INT incx,
                                           RIDGE_CUBLAS_INT* result);

// --- A matrix and vectors ---

// y = alpha op(A) x + beta y; A is (m, n)
cublasStatus_t RIDGE_CUBLAS(cublasSgemv_v2)(cublasHandle_t handle, cublasOperation_t trans,
                                            RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
                                            const float* alpha, const float* A,
                                            RIDGE_CUBLAS_INT lda, const float* x,
                                            RIDGE_CUBLAS_INT incx, const float* beta, float* y,
                                            RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasDgemv_v2)(cublasHandle_t handle, cublasOperation_t trans,
                                            RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
                                            const double* alpha, const double* A,
                                            RIDGE_CUBLAS_INT lda, const double* x,
                                            RIDGE_CUBLAS_INT incx, const double* beta, double* y,
                                            RIDGE_CUBLAS_INT incy);
cublasStatus_t RIDGE_CUBLAS(cublasSgemvBatched)(cublasHandle_t handle, cublasOperation_t trans,
                                                RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
                                                const float* alpha, const float* const Aarray[],
                                                RIDGE_CUBLAS_INT lda, const float* const xarray[],
                                                RIDGE_CUBLAS_INT incx, const float* beta,
                                                float* const yarray[], RIDGE_CUBLAS_INT incy,
                                                RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasDgemvBatched)(cublasHandle_t handle, cublasOperation_t trans,
                                                RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
                                                const double* alpha, const double* const Aarray[],
                                                RIDGE_CUBLAS_INT lda, const double* const xarray[],
                                                RIDGE_CUBLAS_INT incx, const double* beta,
                                                double* const yarray[], RIDGE_CUBLAS_INT incy,
                                                RIDGE_CUBLAS_INT batchCount);
#ifdef __cplusplus
cublasStatus_t RIDGE_CUBLAS(cublasHSHgemvBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __half* const Aarray[], RIDGE_CUBLAS_INT lda,
    const __half* const xarray[], RIDGE_CUBLAS_INT incx, const float* beta, __half* const yarray[],
    RIDGE_CUBLAS_INT incy, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasHSSgemvBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __half* const Aarray[], RIDGE_CUBLAS_INT lda,
    const __half* const xarray[], RIDGE_CUBLAS_INT incx, const float* beta, float* const yarray[],
    RIDGE_CUBLAS_INT incy, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasTSTgemvBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __nv_bfloat16* const Aarray[], RIDGE_CUBLAS_INT lda,
    const __nv_bfloat16* const xarray[], RIDGE_CUBLAS_INT incx, const float* beta,
    __nv_bfloat16* const yarray[], RIDGE_CUBLAS_INT incy, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasTSSgemvBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __nv_bfloat16* const Aarray[], RIDGE_CUBLAS_INT lda,
    const __nv_bfloat16* const xarray[], RIDGE_CUBLAS_INT incx, const float* beta,
    float* const yarray[], RIDGE_CUBLAS_INT incy, RIDGE_CUBLAS_INT batchCount);
#endif
cublasStatus_t RIDGE_CUBLAS(cublasSgemvStridedBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const float* A, RIDGE_CUBLAS_INT lda, long long strideA, const float* x,
    RIDGE_CUBLAS_INT incx, long long stridex, const float* beta, float* y, RIDGE_CUBLAS_INT incy,
    long long stridey, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasDgemvStridedBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const double* alpha, const double* A, RIDGE_CUBLAS_INT lda, long long strideA, const double* x,
    RIDGE_CUBLAS_INT incx, long long stridex, const double* beta, double* y, RIDGE_CUBLAS_INT incy,
    long long stridey, RIDGE_CUBLAS_INT batchCount);
#ifdef __cplusplus
cublasStatus_t RIDGE_CUBLAS(cublasHSHgemvStridedBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __half* A, RIDGE_CUBLAS_INT lda, long long strideA, const __half* x,
    RIDGE_CUBLAS_INT incx, long long stridex, const float* beta, __half* y, RIDGE_CUBLAS_INT incy,
    long long stridey, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasHSSgemvStridedBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __half* A, RIDGE_CUBLAS_INT lda, long long strideA, const __half* x,
    RIDGE_CUBLAS_INT incx, long long stridex, const float* beta, float* y, RIDGE_CUBLAS_INT incy,
    long long stridey, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasTSTgemvStridedBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __nv_bfloat16* A, RIDGE_CUBLAS_INT lda, long long strideA,
    const __nv_bfloat16* x, RIDGE_CUBLAS_INT incx, long long stridex, const float* beta,
    __nv_bfloat16* y, RIDGE_CUBLAS_INT incy, long long stridey, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasTSSgemvStridedBatched)(
    cublasHandle_t handle, cublasOperation_t trans, RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n,
    const float* alpha, const __nv_bfloat16* A, RIDGE_CUBLAS_INT lda, long long strideA,
    const __nv_bfloat16* x, RIDGE_CUBLAS_INT incx, long long stridex, const float* beta, float* y,
    RIDGE_CUBLAS_INT incy, long long stridey, RIDGE_CUBLAS_INT batchCount);
#endif
// A += alpha x transpose(y)
cublasStatus_t RIDGE_CUBLAS(cublasSger_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT m,
                                           RIDGE_CUBLAS_INT n, const float* alpha, const float* x,
                                           RIDGE_CUBLAS_INT incx, const float* y,
                                           RIDGE_CUBLAS_INT incy, float* A, RIDGE_CUBLAS_INT lda);
cublasStatus_t RIDGE_CUBLAS(cublasDger_v2)(cublasHandle_t handle, RIDGE_CUBLAS_INT m,
                                           RIDGE_CUBLAS_INT n, const double* alpha, const double* x,
                                           RIDGE_CUBLAS_INT incx, const double* y,
                                           RIDGE_CUBLAS_INT incy, double* A, RIDGE_CUBLAS_INT lda);

// --- Matrices ---

// C = alpha op(A) op(B) + beta C; op(A) is (m, k), op(B) is (k, n)
cublasStatus_t RIDGE_CUBLAS(cublasSgemm_v2)(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                            RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k,
                                            const float* alpha, const float* A,
                                            RIDGE_CUBLAS_INT lda, const float* B,
                                            RIDGE_CUBLAS_INT ldb, const float* beta, float* C,
                                            RIDGE_CUBLAS_INT ldc);
cublasStatus_t RIDGE_CUBLAS(cublasDgemm_v2)(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                            RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k,
                                            const double* alpha, const double* A,
                                            RIDGE_CUBLAS_INT lda, const double* B,
                                            RIDGE_CUBLAS_INT ldb, const double* beta, double* C,
                                            RIDGE_CUBLAS_INT ldc);
#ifdef __cplusplus
cublasStatus_t RIDGE_CUBLAS(cublasHgemm)(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                         RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k,
                                         const __half* alpha, const __half* A, RIDGE_CUBLAS_INT lda,
                                         const __half* B, RIDGE_CUBLAS_INT ldb, const __half* beta,
                                         __half* C, RIDGE_CUBLAS_INT ldc);
#endif
cublasStatus_t RIDGE_CUBLAS(cublasSgemmEx)(cublasHandle_t handle, cublasOperation_t transa,
                                           cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                           RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k,
                                           const float* alpha, const void* A, cudaDataType Atype,
                                           RIDGE_CUBLAS_INT lda, const void* B, cudaDataType Btype,
                                           RIDGE_CUBLAS_INT ldb, const float* beta, void* C,
                                           cudaDataType Ctype, RIDGE_CUBLAS_INT ldc);
cublasStatus_t RIDGE_CUBLAS(cublasGemmEx)(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                          RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const void* alpha,
                                          const void* A, cudaDataType Atype, RIDGE_CUBLAS_INT lda,
                                          const void* B, cudaDataType Btype, RIDGE_CUBLAS_INT ldb,
                                          const void* beta, void* C, cudaDataType Ctype,
                                          RIDGE_CUBLAS_INT ldc, cublasComputeType_t computeType,
                                          cublasGemmAlgo_t algo);
#ifdef __cplusplus
cublasStatus_t RIDGE_CUBLAS(cublasHgemmBatched)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const __half* alpha, const __half* const Aarray[],
    RIDGE_CUBLAS_INT lda, const __half* const Barray[], RIDGE_CUBLAS_INT ldb, const __half* beta,
    __half* const Carray[], RIDGE_CUBLAS_INT ldc, RIDGE_CUBLAS_INT batchCount);
#endif
cublasStatus_t RIDGE_CUBLAS(cublasSgemmBatched)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const float* alpha, const float* const Aarray[],
    RIDGE_CUBLAS_INT lda, const float* const Barray[], RIDGE_CUBLAS_INT ldb, const float* beta,
    float* const Carray[], RIDGE_CUBLAS_INT ldc, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasDgemmBatched)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const double* alpha, const double* const Aarray[],
    RIDGE_CUBLAS_INT lda, const double* const Barray[], RIDGE_CUBLAS_INT ldb, const double* beta,
    double* const Carray[], RIDGE_CUBLAS_INT ldc, RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasGemmBatchedEx)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const void* alpha, const void* const Aarray[],
    cudaDataType Atype, RIDGE_CUBLAS_INT lda, const void* const Barray[], cudaDataType Btype,
    RIDGE_CUBLAS_INT ldb, const void* beta, void* const Carray[], cudaDataType Ctype,
    RIDGE_CUBLAS_INT ldc, RIDGE_CUBLAS_INT batchCount, cublasComputeType_t computeType,
    cublasGemmAlgo_t algo);
#ifdef __cplusplus
cublasStatus_t RIDGE_CUBLAS(cublasHgemmStridedBatched)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const __half* alpha, const __half* A,
    RIDGE_CUBLAS_INT lda, long long strideA, const __half* B, RIDGE_CUBLAS_INT ldb,
    long long strideB, const __half* beta, __half* C, RIDGE_CUBLAS_INT ldc, long long strideC,
    RIDGE_CUBLAS_INT batchCount);
#endif
cublasStatus_t RIDGE_CUBLAS(cublasSgemmStridedBatched)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const float* alpha, const float* A,
    RIDGE_CUBLAS_INT lda, long long strideA, const float* B, RIDGE_CUBLAS_INT ldb,
    long long strideB, const float* beta, float* C, RIDGE_CUBLAS_INT ldc, long long strideC,
    RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasDgemmStridedBatched)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const double* alpha, const double* A,
    RIDGE_CUBLAS_INT lda, long long strideA, const double* B, RIDGE_CUBLAS_INT ldb,
    long long strideB, const double* beta, double* C, RIDGE_CUBLAS_INT ldc, long long strideC,
    RIDGE_CUBLAS_INT batchCount);
cublasStatus_t RIDGE_CUBLAS(cublasGemmStridedBatchedEx)(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, RIDGE_CUBLAS_INT m,
    RIDGE_CUBLAS_INT n, RIDGE_CUBLAS_INT k, const void* alpha, const void* A, cudaDataType Atype,
    RIDGE_CUBLAS_INT lda, long long strideA, const void* B, cudaDataType Btype,
    RIDGE_CUBLAS_INT ldb, long long strideB, const void* beta, void* C, cudaDataType Ctype,
    RIDGE_CUBLAS_INT ldc, long long strideC, RIDGE_CUBLAS_INT batchCount,
    cublasComputeType_t computeType, cublasGemmAlgo_t algo);
// C = alpha op(A) + beta op(B)
cublasStatus_t RIDGE_CUBLAS(cublasSgeam)(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                         RIDGE_CUBLAS_INT n, const float* alpha, const float* A,
                                         RIDGE_CUBLAS_INT lda, const float* beta, const float* B,
                                         RIDGE_CUBLAS_INT ldb, float* C, RIDGE_CUBLAS_INT ldc);
cublasStatus_t RIDGE_CUBLAS(cublasDgeam)(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, RIDGE_CUBLAS_INT m,
                                         RIDGE_CUBLAS_INT n, const double* alpha, const double* A,
                                         RIDGE_CUBLAS_INT lda, const double* beta, const double* B,
                                         RIDGE_CUBLAS_INT ldb, double* C, RIDGE_CUBLAS_INT ldc);
// C = A diag(x), or with CUBLAS_SIDE_LEFT C = diag(x) A
cublasStatus_t RIDGE_CUBLAS(cublasSdgmm)(cublasHandle_t handle, cublasSideMode_t mode,
                                         RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n, const float* A,
                                         RIDGE_CUBLAS_INT lda, const float* x,
                                         RIDGE_CUBLAS_INT incx, float* C, RIDGE_CUBLAS_INT ldc);
cublasStatus_t RIDGE_CUBLAS(cublasDdgmm)(cublasHandle_t handle, cublasSideMode_t mode,
                                         RIDGE_CUBLAS_INT m, RIDGE_CUBLAS_INT n, const double* A,
                                         RIDGE_CUBLAS_INT lda, const double* x,
                                         RIDGE_CUBLAS_INT incx, double* C, RIDGE_CUBLAS_INT ldc);
