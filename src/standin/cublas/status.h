// The status codes of cuBLAS and cuBLASLt in words. Both give the same text for numbers that are none.
#pragma once

namespace ridge::cublas {

const char* status_name(int status);  // "CUBLAS_STATUS_SUCCESS"
const char* status_text(int status);

}  // namespace ridge::cublas
