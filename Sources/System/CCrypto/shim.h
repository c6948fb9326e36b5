// Imports libcrypto (OpenSSL 3).
#pragma once
// Allows `SHA1_Init` and similar functions, which OpenSSL 3 marks as deprecated. Their state is a plain struct, so an
// HMAC state with a hashed key can be copied for each message. With EVP, each copy would allocate a context.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
