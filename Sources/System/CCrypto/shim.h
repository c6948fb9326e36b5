// Imports libcrypto (OpenSSL 3).
#pragma once
// Allows `SHA1_Init` and similar functions, which OpenSSL 3 marks as deprecated. The hash state of these functions is a
// plain struct, so an HMAC state whose key is already hashed can be copied for each message. With OpenSSL's EVP
// functions, each copy would allocate memory.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
