/// Keys, and signatures over tokens with the claims `{"sub":"ana"}`, generated with Python's `cryptography` 48.
enum TokenVectors {
    static let rsaPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7Z0ncUQ547nFnOAbMlE4
        lpoXDVBpVwLra+zmLpKZVHjrjoAZ0qiGjCKM7nn+gBMsML8XiGYbC0/utaJ1gFj9
        8JIPkexUa4erCMGhOtRDt/zC4QMV4L/ymHIL0JlMg04cYpsJGGkF7M1Pvs1ZOauW
        uDN7oAbdYYtDwe42JovutPJnND3JeZRWAIFNgbOfg3/5ac3Y/pgLRL4WuWpzoXTx
        JM9cfE0uN0dQ3HITHLU2yYB+zpLkbQbkCxNeJsYagjbjUb5cb8y0FMAiR+OP2PJ8
        v7cA8lA++NiBeYqawrScMkMb5p08BKfdRgzGUi8zUboAEqGz9BoGOUv3BR87zxWP
        fQIDAQAB
        -----END PUBLIC KEY-----
        """
    static let rsaSignature = """
        elr_WkuiKMepA0irw7wvDeBW4oMXzug075LJZkxXr2j4cKjg7zNR2Y448OE2rgQy_00dYe75XyFngLcCCp4P2d04WQTyGEVxQrXx\
        mYLzJ59Q7-Z0_ZdyuoQ2F6PUc5TEB-zscJD7kDTchEVre7OTbvPdLdI7-dQzTXChz-nopmvOw_LR4_hhn8WECJwvNTdkMzMCmPdv\
        chChPKM5b7R7fiIdICVey4pbtwspWEO6_Z6lXCC59CRnUp531FekQPxcMIyJ6Sp2kBPVFg8Pf4zvOTeYB0JKoWhpz7tTeCxfhNHT\
        O1RGACf9Zf85B4inYtUe2eZ7TWuQr8hAaBtjeZ1elw
        """
    static let rsaOverSHA512 = """
        Iw6NF9JUxSVB-fvXHQ5je2l5jOp24iZ5gTLdgvqeGmmk7JGssNvLZs9y1PnQxuRBixn2C29aa18qtPcz7_SqdNU3SQl4j7Kg3ncu\
        fJHicwrlFl2XS5ib5shnlHt-KWWO7vlK__FNtjElE1RxLJwi2vOnEktJSjmcbU2MX9O3-qbwB8K162vaDUJ9U6V8hMIcXUwoJAE6\
        _1eKFJcijSWlK1Qql9nUHcCy5nDBfl2xgIuue_J4ca7m4cpthgDDjAR_8H0Rk_PEtRBZvEu025aOnwVXQJPnhEcXbWid6VOBbdbH\
        8IOc8xYeHK8_-UOCctiifBC1TN0em7n2Gh_NeETgmA
        """
    static let rsaPSS = """
        5Z7s70QsSJT0k-rs8JPs9VWbsMTnaYpg2eovFvhzwKl-fN19L8ahkTuBzQJTFZ7ovwllEDCftasl-qQNtQWsMMiF3zFU_D3lHQT6\
        9_1HinkYTrXcoQ78W04W4ojCOIrlRqoYGd77RDhR1wMPwRTR6WqQI-Be8-jud2os6_YBUyQrQKtXxxOl3rxdYS2J_m2KLC98cUxd\
        Ceym4oC9UHWcOH255e0NVgnABBFYIKy5Jqn8yvANXDf35fxIqjImVqhS5-tAitl1Eo_-VDSC4CZm_sVBrhQmMNyueM8Q3OGN-y10\
        5I9EUvkMokR_KlVBGa6vqAP8xJnTAAXOsC56UkXq9A
        """
    /// An RSA key with exponent 1, with which every message is its own signature.
    static let rsaExponent1PEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIDANBgkqhkiG9w0BAQEFAAOCAQ0AMIIBCAKCAQEA7Z0ncUQ547nFnOAbMlE4
        lpoXDVBpVwLra+zmLpKZVHjrjoAZ0qiGjCKM7nn+gBMsML8XiGYbC0/utaJ1gFj9
        8JIPkexUa4erCMGhOtRDt/zC4QMV4L/ymHIL0JlMg04cYpsJGGkF7M1Pvs1ZOauW
        uDN7oAbdYYtDwe42JovutPJnND3JeZRWAIFNgbOfg3/5ac3Y/pgLRL4WuWpzoXTx
        JM9cfE0uN0dQ3HITHLU2yYB+zpLkbQbkCxNeJsYagjbjUb5cb8y0FMAiR+OP2PJ8
        v7cA8lA++NiBeYqawrScMkMb5p08BKfdRgzGUi8zUboAEqGz9BoGOUv3BR87zxWP
        fQIBAQ==
        -----END PUBLIC KEY-----
        """
    /// An RSA key whose exponent has 64 bits.
    static let rsaLongExponentPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBKDANBgkqhkiG9w0BAQEFAAOCARUAMIIBEAKCAQEA7Z0ncUQ547nFnOAbMlE4
        lpoXDVBpVwLra+zmLpKZVHjrjoAZ0qiGjCKM7nn+gBMsML8XiGYbC0/utaJ1gFj9
        8JIPkexUa4erCMGhOtRDt/zC4QMV4L/ymHIL0JlMg04cYpsJGGkF7M1Pvs1ZOauW
        uDN7oAbdYYtDwe42JovutPJnND3JeZRWAIFNgbOfg3/5ac3Y/pgLRL4WuWpzoXTx
        JM9cfE0uN0dQ3HITHLU2yYB+zpLkbQbkCxNeJsYagjbjUb5cb8y0FMAiR+OP2PJ8
        v7cA8lA++NiBeYqawrScMkMb5p08BKfdRgzGUi8zUboAEqGz9BoGOUv3BR87zxWP
        fQIJAIAAAAAAAAAB
        -----END PUBLIC KEY-----
        """
    /// An RSA key of 8256 bits.
    static let rsa8256PEM = """
        -----BEGIN PUBLIC KEY-----
        MIIEKjANBgkqhkiG9w0BAQEFAAOCBBcAMIIEEgKCBAkAuCRNAomB1pOve0Vq+O+k
        ytY9KC4Z/xSULCRuUNk1HSJwSoAqccNYC2Nw3kzrKTwySoQjNCVX1OXDhDjw42kQ
        7ntUtmg2wfvdE9JEHZ4UNNxiymd/to9f5mpGS6rezb0AV2+Na1rDvMgIRLfVCxzG
        YDREu+fPz4/Aqh7jxjbZ4zn6uEjJtleoU+43wJy/3RSdCzgHsZHd6bYjzNlSgd0Y
        cFtIyJsVA5A4RbuldTlFNR/mtFSFJ2D3NSnPAcqPadzK5Fv1gX3flKovekBwcfDu
        3GvrmPdotM0z0RdtRNFWOkWl1yEikOt2cMZ4axNZGu2shkeJk4leiyTmEgFKuqa6
        BLW4xyVQe1sTFY4CDZb+TPv213TgkWHitZm481rjHxbjlYJe3viqaa0wTvgP7Zuq
        BYDSR82E5Xoq4jmuyQ0tWGkJXz5EilX6LDxwScAdzxL7h8REd882eZMTLKdMkqJ6
        HqqjQcL9VyTqRJzsJyhUfoDtu35gKYkcX/0Vfig+u0HlWBUIfflbfAT88+icPL7o
        /BC9FaSyafKRlwkWfTIDhLFcQba3XpeKsNRmi2x3qn8criQ/abVPyXC8o3JggPSV
        NTZdEaHf5hC2DvqZYTbTeriv0nFbjGvChQ3F5gBbcCu59ZsPMG7LLEPuRMQpln1F
        hDUk6y98Fqq5veFC7iaLUcb2Wmv49AsBuHdXzeU0g9BX4UQvO9Z9SV0gR7f3wyng
        Vy6IwYgIQmcGrzuN8pFco9UnrUlZfyEc+J5HWgfJATEr8ntb+NNeoru7bA+f74nY
        g0FbWtvWqEAwyx815qbAJuZcYPuZ9WL36593897FABRzRB0sVYa1TZuZnPS9eQ5M
        Vr5oiDjKhoblyQaJvyq1hc7xE3yZm0jHC5L2elw03BVpe10RyYLtbXG+Hh5/e04H
        M4hKqXw/ejOajtA1d890vglSfP8rb9+8D1T+CSsX1tjH4iUAJCY1+laYHoWmTabO
        ihKjpmz2n9SPWIvLqbrRQbjjUaDN1JJa5XKJkz7sH8FTKrOaZB5XRKTUnkQz2Cge
        lggZKkSJkjZJAtug6b6fo7mziDi8TmSTlHzSx8YVuCm4tVCrmdlgNG5whTpcg599
        uZ9xAszzewQq8KL52E/yWIB7IFxcDZnafM1Ezg5+5NJ0ZcGfZhmKKv72meDbOLXf
        ygQ332bn+RQGEilpMKSIGyw+R4h7yBiILqESOhFxgLH3YqmHBYUC07NyoOYjMzJ0
        M+tTtbtNlwnyUF9t87x9UtGDOXuKtRtliwEMyHBU+RXuxafrL71pY9Zh2AVDgHqp
        RhveyFjfyfddiuLvBQ4QppVkafLLVuFqYiGa6UPovGTSiyjuTWXRXm5N3ZW2JiCZ
        Y9w/7hwp/kQfAgMBAAE=
        -----END PUBLIC KEY-----
        """
    static let rsa1024PEM = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC+qhpSeKGoBKD4kGq9RLw3mzDk
        Ean3E8B2PfMYKm9QD0bAyUkySw4uAzB2VnlvhLhhv9pOX+D9FpTgXPnnVyqA5tkF
        1LActVMG6JUfpBh63S9mrvqpS9DorlXypWaoA/5wTE1TRsxxoYSHb3E6RJo6Iixg
        t2EjPaXJr9xapHqS2QIDAQAB
        -----END PUBLIC KEY-----
        """
    static let rsaForPSSPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIDALBgkqhkiG9w0BAQoDggEPADCCAQoCggEBAO2dJ3FEOeO5xZzgGzJROJaa
        Fw1QaVcC62vs5i6SmVR4646AGdKohowijO55/oATLDC/F4hmGwtP7rWidYBY/fCS
        D5HsVGuHqwjBoTrUQ7f8wuEDFeC/8phyC9CZTINOHGKbCRhpBezNT77NWTmrlrgz
        e6AG3WGLQ8HuNiaL7rTyZzQ9yXmUVgCBTYGzn4N/+WnN2P6YC0S+Frlqc6F08STP
        XHxNLjdHUNxyExy1NsmAfs6S5G0G5AsTXibGGoI241G+XG/MtBTAIkfjj9jyfL+3
        APJQPvjYgXmKmsK0nDJDG+adPASn3UYMxlIvM1G6ABKhs/QaBjlL9wUfO88Vj30C
        AwEAAQ==
        -----END PUBLIC KEY-----
        """
    static let p256PEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMdAP2NIALKQaLdmWe+2yeSojTnmv
        caKOL4G0QgGPLJDI7Ts6x7YDkm4ReIq352kKyRP+krnQ/DhLdsXIJ9/XPg==
        -----END PUBLIC KEY-----
        """
    static let p256LowS = "twPrO-1veoUaCd-hw_RofOGVVO-JbpMgGgT9YRmVxtNNwQZXnCLlwydDeEnXgb6bDUE533nI0jFiSpNfStgCjA"
    static let p256HighS = "twPrO-1veoUaCd-hw_RofOGVVO-JbpMgGgT9YRmVxtOyPvmnY90aPdi8h7YofkFkr6XAzi1OzFORbzdjsYsixQ"
    static let p256SPastOrder = "twPrO-1veoUaCd-hw_RofOGVVO-JbpMgGgT9YRmVxtP_____AAAAAP__________vOb6racXnoTzucrC_GMlUQ"
    static let p256ROfOrder = "_____wAAAAD__________7zm-q2nF56E87nKwvxjJVFNwQZXnCLlwydDeEnXgb6bDUE533nI0jFiSpNfStgCjA"
    static let p256OffCurvePEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEMdAP2NIALKQaLdmWe+2yeSojTnmv
        caKOL4G0QgGPLJDI7Ts6x7YDkm4ReIq352kKyRP+krnQ/DhLdsXIJ9/XPw==
        -----END PUBLIC KEY-----
        """
    static let p384PEM = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEYX3ybXKHeRSpQf8EGW3gviiNGZh968Ip
        UOwgtmm2aFCRLBmKNOvsl6MBzQ7uFu1z65LFYv/zxpVrlvKcebJx4n4cI+nNG5aK
        RDyUGRZ642TLSQGnWnpTfg6za5V4AecU
        -----END PUBLIC KEY-----
        """
    static let k1PEM = """
        -----BEGIN PUBLIC KEY-----
        MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAE1jg+6hrv/EnESpFvo2vUpHg01pv2NGK7
        8ANAw1ceUrOl66dhu+HXjQtNwxOO6DJyVY77oWC0xrLcv79qEL6nKQ==
        -----END PUBLIC KEY-----
        """
    static let ed25519PEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAA6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=
        -----END PUBLIC KEY-----
        """
    static let ed25519Signature =
        "ZKG0F1zQ0OAySIOeypuDNcyuH6XIevl8PpfejxzKGyD5JrSiBh1Sek3AwTFHmYqlQcD7OzdzKCeVn3D09dL1Dw"
    static let ed25519SPlusOrder =
        "ZKG0F1zQ0OAySIOeypuDNcyuH6XIevl8PpfejxzKGyDm-qn_IIBk0iNdudQlk2m6QcD7OzdzKCeVn3D09dL1Hw"
    static let ed25519NoPointPEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
        -----END PUBLIC KEY-----
        """
}
