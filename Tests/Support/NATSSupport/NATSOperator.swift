/// A NATS operator, an account and a user with a JWT, as `nsc` makes them. They do not expire.
public enum NATSOperator {
    /// The lines of the server's configuration. The user may publish and subscribe to `parley.>`.
    public static let configuration = """
        operator: "\(operatorJWT)"
        resolver: MEMORY
        resolver_preload: { ACATS5YOVB6ROX2WUNKGNQ2MP3GMXDMKSG2O4N5CLX3A6W4PZGZZIL2R: "\(accountJWT)" }
        """

    /// The content of the user's `.creds` file.
    public static let credentials = """
        -----BEGIN NATS USER JWT-----
        \(userJWT)
        ------END NATS USER JWT------

        -----BEGIN USER NKEY SEED-----
        SUAAGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGAYDAMBQGA6BEM
        ------END USER NKEY SEED------

        """

    private static let operatorJWT = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJpYXQiOjE3MDAwMDAwMDAsImlzcyI6Ik9DRklSWTY1T1FFN0RGU\
        DVLTE5TMlBGMkxWWk1VWllKWDRPWklFUTM2TjJJUUFOVUI1WFZZT0NTIiwibmFtZSI6Im9wZXJhdG9yIiwibmF0cyI6eyJ0eXBlI\
        joib3BlcmF0b3IiLCJ2ZXJzaW9uIjoyfSwic3ViIjoiT0NGSVJZNjVPUUU3REZQNUtMTlMyUEYyTFZaTVVaWUpYNE9aSUVRMzZOM\
        klRQU5VQjVYVllPQ1MiLCJqdGkiOiI2RURBVE9UUkdBQ0lUVEtTUEEzUFBYTFBUTFZZQlNNVDVLTUhIRkE0MjZCR1g2MllQUktBI\
        n0.Yp9y-izsm1e_fq2t8sDbkjdIaF0y-N0GWa621XE8l8lIlvGTuJ6Vs3Z7rAkpa1JKbBIYwSVnEZ21EcLOd4ZkBw
        """

    private static let accountJWT = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJpYXQiOjE3MDAwMDAwMDAsImlzcyI6Ik9DRklSWTY1T1FFN0RGU\
        DVLTE5TMlBGMkxWWk1VWllKWDRPWklFUTM2TjJJUUFOVUI1WFZZT0NTIiwibmFtZSI6InBhcmxleSIsIm5hdHMiOnsibGltaXRzI\
        jp7InN1YnMiOi0xLCJkYXRhIjotMSwicGF5bG9hZCI6LTEsImltcG9ydHMiOi0xLCJleHBvcnRzIjotMSwid2lsZGNhcmRzIjp0c\
        nVlLCJjb25uIjotMSwibGVhZiI6LTF9LCJkZWZhdWx0X3Blcm1pc3Npb25zIjp7InB1YiI6e30sInN1YiI6e319LCJ0eXBlIjoiY\
        WNjb3VudCIsInZlcnNpb24iOjJ9LCJzdWIiOiJBQ0FUUzVZT1ZCNlJPWDJXVU5LR05RMk1QM0dNWERNS1NHMk80TjVDTFgzQTZXN\
        FBaR1paSUwyUiIsImp0aSI6IkROT1EzTjVaRDVXUlhPN1RTNVFJWFlVVlFJNVFKNUtOVEJZRTVONjJTQ1pPTFkzT1FPT0EifQ.T9\
        hVZLjPZR3YG3mWrsWaA282P4iY3L-vxmVa75T8Q6cfarnFKewDtwirl9N51kv6woZv4vA6H58OxeL3loqODQ
        """

    private static let userJWT = """
        eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJpYXQiOjE3MDAwMDAwMDAsImlzcyI6IkFDQVRTNVlPVkI2Uk9YM\
        ldVTktHTlEyTVAzR01YRE1LU0cyTzRONUNMWDNBNlc0UFpHWlpJTDJSIiwibmFtZSI6Im5vZGUiLCJuYXRzIjp7InB1YiI6eyJhb\
        GxvdyI6WyJwYXJsZXkuPiJdfSwic3ViIjp7ImFsbG93IjpbInBhcmxleS4-Il19LCJzdWJzIjotMSwiZGF0YSI6LTEsInBheWxvY\
        WQiOi0xLCJ0eXBlIjoidXNlciIsInZlcnNpb24iOjJ9LCJzdWIiOiJVRFdVU0tHR0ZESTRGUlhLNUVCVFJFQ1pTVlFTU1dKSEhKT\
        0dINkpXRzNBVU1GRk1RNDM1QzJVNCIsImp0aSI6IkNaREkyNkpSVUVXNEtRM1VDR05XNUpKMlFSTUQ0TTVESlRORU9RVTZJTlFNS\
        0hSQzVTTEEifQ.yf5HXLEe3_4XTXMYt9u8GTOFBaTijK_Ujd0ck4W61BMMxAeBTc3x7pt5C3JD3Zsxl-I3IbP_cFMbRheoOdDQCg
        """
}
