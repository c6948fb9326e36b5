// libcrypto of OpenSSL 3.
#pragma once
// For SHA1_Init and its kin, which OpenSSL 3 marks as deprecated: their state is a plain value, so a keyed HMAC is
// copied for each message. EVP allocates a context for each copy.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
