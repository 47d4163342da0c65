import Testing

@testable import URLConfig

/// Ordinary services' values that developers need are shown: counts, settings, states, names and links.
@Suite struct OrdinaryResponsesTests {
    private static let responses: [(service: String, bodies: String)] = [
        (
            "language models",
            #"""
            {"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}
            {"usage":{"input_tokens":2095,"output_tokens":503,"cache_read_input_tokens":1000}}
            {"usage":{"cache_creation_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":7}}}
            {"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0}}
            {"completion_tokens_details":{"reasoning_tokens":640,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}
            {"input_tokens_details":{"cached_tokens":1536},"output_tokens_details":{"reasoning_tokens":0}}
            {"max_tokens":1024,"max_completion_tokens":null,"max_output_tokens":4096}
            {"thinking":{"type":"enabled","budget_tokens":10000}}
            {"tokens":5,"remaining_tokens":149984,"tokens_per_minute":90000}
            {"tokens":"5","remaining_tokens":"149984","reset_tokens":"6m0s"}
            {"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":715,"totalTokenCount":719,"thoughtsTokenCount":3}}
            {"promptTokensDetails":[{"modality":"TEXT","tokenCount":4}]}
            {"time_to_first_token":0.532,"input_cost_per_token":1.5e-06,"output_cost_per_token":2e-06}
            {"eval_count":298,"prompt_eval_count":26,"num_predict":128,"context_tokens":8192}
            {"finish_reason":"length","stop_reason":"max_tokens","stop_sequence":null}
            {"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}
            {"error":{"code":"invalid_api_key","param":null,"message":"Incorrect API key provided."}}
            {"error":{"type":"authentication_error","message":"invalid x-api-key"}}
            {"object":"session","session":{"model":"gpt-4o-realtime-preview-2024-12-17","voice":"alloy","modalities":["audio","text"]}}
            {"token":{"id":42,"text":" world","logprob":-0.25,"special":false},"generated_text":null}
            {"tokenizer":"cl100k_base","token_type_ids":[0,0,1],"bos_token_id":1,"eos_token_id":[2,3]}
            {"token_usage":{"prompt":12,"completion":7},"token_count":19,"token_limit":4096}
            {"rate_limits":[{"name":"tokens","limit":50000,"remaining":49950,"reset_seconds":0.072}]}
            {"data":[{"embedding":[0.0023,-0.0093],"index":0}],"usage":{"prompt_tokens":8,"total_tokens":8}}
            {"settings":[{"name":"max_tokens","value":5},{"key":"secret_scanning","value":true}]}
            {"role":"assistant","content":"A token is a piece of a word. Your password: must have 8 characters."}
            {"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Berlin\",\"max_tokens\":5}"}}]}
            {"service_tier":"default","system_fingerprint":"fp_44709d6fcb","seed":7}
            {"audio_tokens":null,"image_tokens":0,"text_tokens":12,"video_tokens":0}
            {"batch":{"request_counts":{"total":100,"completed":95,"failed":5},"tokens":{"input":1,"output":2}}}
            {"logprobs":null,"top_k":40,"top_p":0.95,"tokens_used":17}
            {"meta":{"billed_units":{"input_tokens":11,"output_tokens":5},"tokens":{"input_tokens":77,"output_tokens":5}}}
            """#
        ),
        (
            "GitHub",
            #"""
            {"id":1296269,"node_id":"MDEwOlJlcG9zaXRvcnkxMjk2MjY5","name":"Hello-World","full_name":"octocat/Hello-World","private":false}
            {"owner":{"login":"octocat","avatar_url":"https://github.com/images/error/octocat_happy.gif","site_admin":false}}
            {"license":{"key":"mit","name":"MIT License","spdx_id":"MIT","node_id":"MDc6TGljZW5zZW1pdA=="}}
            {"keys_url":"https://api.github.com/repos/octocat/Hello-World/keys{/key_id}","git_url":"git:github.com/octocat/Hello-World.git"}
            {"ssh_url":"git@github.com:octocat/Hello-World.git","clone_url":"https://github.com/octocat/Hello-World.git"}
            {"sha":"6dcb09b5b57875f334f61aebed695e2e4193db5e","ref":"refs/heads/main"}
            {"commit":{"author":{"name":"Monalisa Octocat","email":"support@github.com","date":"2011-04-14T16:00:49Z"},"comment_count":0}}
            {"verification":{"verified":false,"reason":"unsigned","signature":null,"payload":null}}
            {"author_association":"OWNER","authorizations_url":"https://api.github.com/authorizations"}
            {"two_factor_authentication":true,"has_password":true,"has_issues":true}
            {"security_and_analysis":{"secret_scanning":{"status":"enabled"},"secret_scanning_push_protection":{"status":"disabled"}}}
            {"resources":{"core":{"limit":5000,"used":1,"remaining":4999,"reset":1691591363}}}
            {"message":"Bad credentials","documentation_url":"https://docs.github.com/rest","status":"401"}
            {"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}]}
            {"app":{"id":1,"slug":"octoapp","client_id":"Iv1.ab1112223334445c","name":"Octocat App"}}
            {"app_id":37829,"app_slug":"octoapp","target_type":"Organization","suspended_at":null}
            {"permissions":{"checks":"write","metadata":"read","secrets":"read","actions_secrets":"none"}}
            {"check_runs":[{"id":4,"status":"completed","conclusion":"neutral","output":{"annotations_count":2}}]}
            {"workflow_runs":[{"id":30433642,"run_number":562,"event":"push","display_title":"Update README.md"}]}
            {"total_count":2,"secrets":[{"name":"GH_TOKEN","created_at":"2019-08-10T14:59:22Z"}]}
            {"key_id":"568250167242549743","deploy_keys":[]}
            {"ssh_keys":["ssh-ed25519 short"],"gpg_keys":0,"public_keys":3}
            {"title":"Found a bug","body":"I'm having a problem with this: the token has expired.","labels":["bug"]}
            {"reactions":{"total_count":3,"+1":3},"url":"https://api.github.com/repos/octocat/Hello-World/issues/1347?page=2&per_page=10"}
            {"passes":3,"pass":true,"bypass":"always","passage":"a","compass":"north"}
            {"ticket":{"id":35436,"subject":"My printer is on fire!","status":"open","tags":["enterprise"]}}
            {"tickets":[{"id":1,"subject":"a"}],"ticket_count":1}
            {"milestone":{"number":1,"state":"open","title":"v1.0","due_on":"2012-10-09T23:39:01Z"}}
            {"language":"Swift","topics":["octocat","atom","electron","api"],"default_branch":"main"}
            {"private":true,"archived":false,"size":108,"pushed_at":"2011-01-26T19:06:43Z"}
            """#
        ),
        (
            "Stripe",
            #"""
            {"id":"ch_3MmlLrLkdIwHu7ix0snN0B15","object":"charge","amount":1099,"currency":"usd","livemode":false}
            {"card":{"brand":"visa","country":"US","exp_month":3,"exp_year":2026,"last4":"4242","funding":"credit"}}
            {"checks":{"address_line1_check":null,"cvc_check":"pass","address_postal_code_check":"unchecked"}}
            {"payment_method":"pm_1MqLiJLkdIwHu7ixUEgbFdYF","payment_method_types":["card"],"capture_method":"automatic"}
            {"client_secret":null,"next_action":null,"setup_future_usage":null}
            {"receipt_url":"https://pay.stripe.com/receipts/payment/CAcaFwoVYWNjdF8","receipt_number":null}
            {"error":{"code":"card_declined","decline_code":"insufficient_funds","doc_url":"https://stripe.com/docs/error-codes/card-declined","type":"card_error"}}
            {"error":{"code":"incorrect_cvc","param":"cvc","message":"Your card's security code is incorrect."}}
            {"data":[{"id":"sub_1","status":"active","cancel_at_period_end":false}],"has_more":false,"url":"/v1/subscriptions"}
            {"pin":{"status":"active"},"type":"virtual"}
            {"pin":{"lat":52.52,"lng":13.405,"label":"Home"}}
            {"pins":12,"pins_url":"https://h.example/pins"}
            {"sepa_debit":{"bank_code":"37040044","country":"DE","last4":"3000"},"iban_last4":"3000"}
            {"us_bank_account":{"account_type":"checking","routing_number":"110000000"}}
            {"metadata":{"order_id":"6735"},"statement_descriptor":null}
            {"authorization":{"amount":500,"approved":true,"merchant_data":{"category":"bakeries"}}}
            {"auth":"none","authorized":true,"auth_type":"oauth","authenticated":false}
            {"three_d_secure":{"authenticated":true,"authentication_flow":"challenge","result":"authenticated"}}
            {"session":{"mode":"payment","status":"open","payment_status":"unpaid","locale":"auto"}}
            {"sessions":[{"id":1,"device":"iPhone","city":"Berlin","current":true}]}
            {"sessions":3,"active_sessions":2,"max_sessions":10}
            {"invoice":{"number":"0001","total":2000,"lines":{"has_more":false}}}
            {"card":{"id":"card_1","name":"Ada","dynamic_last4":null}}
            {"token":null,"password":null,"secret":null,"api_key":null}
            {"token":"","cookies":[],"credentials":{}}
            {"webhook":{"enabled_events":["charge.failed"],"status":"enabled"}}
            {"tokenization_method":null,"wallet":{"type":"apple_pay"}}
            {"balance":{"available":[{"amount":0,"currency":"usd"}]},"code":"usd"}
            {"keys":["a","b"],"key":"value","public_key_count":2}
            {"cvv_required":true,"pin_required":false,"password_required":false,"otp_enabled":true}
            """#
        ),
        (
            "Kubernetes",
            #"""
            {"apiVersion":"v1","kind":"Secret","metadata":{"name":"my-secret","namespace":"default","resourceVersion":"164619"},"type":"Opaque"}
            {"volumes":[{"name":"tls","secret":{"secretName":"my-tls","defaultMode":420}}]}
            {"env":[{"name":"PASSWORD","valueFrom":{"secretKeyRef":{"name":"my-secret","key":"password"}}}]}
            {"imagePullSecrets":[{"name":"regcred"}],"secrets":[{"name":"default-token"}]}
            {"automountServiceAccountToken":false,"serviceAccountName":"default","hostNetwork":false}
            {"projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}]}}
            {"matchExpressions":[{"key":"app","operator":"In","values":["web","api"]}]}
            {"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}]}
            {"kind":"Status","status":"Failure","message":"pods \"a\" is forbidden","reason":"Forbidden","code":403}
            {"metadata":{"continue":"abc","remainingItemCount":7}}
            {"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}]}
            {"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}}},"status":{"readyReplicas":3}}
            {"containers":[{"name":"web","image":"nginx:1.25.3","ports":[{"containerPort":80,"name":"http"}]}]}
            {"resources":{"limits":{"cpu":"500m","memory":"128Mi"},"requests":{"cpu":"250m"}}}
            {"data":{"config.yaml":"a: 1","log.level":"debug"}}
            {"annotations":{"kubernetes.io/enforce-mountable-secrets":"true","a/token-ttl":"3600"}}
            {"nodeInfo":{"kernelVersion":"5.15.0","osImage":"Ubuntu 22.04.3 LTS","kubeletVersion":"v1.28.2"}}
            {"rules":[{"apiGroups":[""],"resources":["secrets","pods"],"verbs":["get","list"]}]}
            {"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10800}}}
            {"sessionAffinity":"None","clusterIP":"10.0.171.239","type":"ClusterIP"}
            {"podIP":"10.244.1.5","hostIP":"172.18.0.2","startTime":"2024-01-01T00:00:00Z","qosClass":"Burstable"}
            {"tls":[{"hosts":["h.example"],"secretName":"h-tls"}],"ingressClassName":"nginx"}
            {"auth":{"type":"none"},"authorization":{"mode":"RBAC"}}
            {"tokenRequests":[{"audience":"api","expirationSeconds":600}]}
            {"bound_tokens":2,"token_ttl":3600,"token_policies":["default"],"renewable":true}
            {"apiVersion":"v1","kind":"ConfigMap","immutable":false,"binaryData":null}
            {"events":[{"reason":"FailedMount","count":3,"note":"secret \"db\" not found"}]}
            """#
        ),
        (
            "Twilio",
            #"""
            {"sid":"SM0123456789abcdef0123456789abcdef","account_sid":"AC0123456789abcdef0123456789abcdef"}
            {"messaging_service_sid":null,"status":"queued","error_code":null,"error_message":null}
            {"messaging_service_sid":"MG0123456789abcdef0123456789abcdef","num_segments":"1","direction":"outbound-api"}
            {"body":"Your order has shipped","from":"+15017122661","to":"+15558675310","price":null}
            {"uri":"/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Messages/SM0123456789abcdef0123456789abcdef.json"}
            {"code":20003,"message":"Authenticate","more_info":"https://www.twilio.com/docs/errors/20003","status":401}
            {"subresource_uris":{"media":"/2010-04-01/Accounts/AC0123456789abcdef0123456789abcdef/Media.json"}}
            {"valid":false,"channel":"sms","send_code_attempts":[{"attempt_sid":"VL0123456789abcdef0123456789abcdef"}]}
            {"friendly_name":"my service","code_length":6,"lookup_enabled":true,"skip_sms_to_landlines":false}
            {"page":0,"page_size":50,"first_page_uri":"/2010-04-01/Accounts.json?PageSize=50&Page=0","next_page_uri":null}
            {"call_sid":"CA0123456789abcdef0123456789abcdef","duration":"42","answered_by":"human"}
            {"capabilities":{"voice":true,"SMS":true,"MMS":false},"phone_number":"+15005550006"}
            {"date_created":"Thu, 24 Aug 2023 05:01:45 +0000","date_sent":null}
            {"otp":null,"pin":null,"totp":{"config":{"code_length":6,"time_step":30,"skew":1}}}
            {"factor":{"factor_type":"push","status":"unverified"},"challenges":0}
            """#
        ),
        (
            "others",
            #"""
            {"login":"ada","email":"ada@h.example","name":"Ada Lovelace","role":"admin"}
            {"author":"Ada","authors":["Ada","Charles"],"design":"d","assignee":null}
            {"signal":"strong","sigma":0.5,"signup_count":4,"significant":true}
            {"spin":1,"spinner":"dots","shopping":{"cart":"c"},"span":"2 rows","company":"c"}
            {"secretary":"Bob","cookie_policy":"https://h.example/cookies","cookies_enabled":true}
            {"password_policy":{"min_length":12},"password_length":12,"password_expires_at":"2025-01-01","password_changed":false}
            {"tokenName":"build","token_type":"bearer","expires_in":3600,"scope":"read write"}
            {"is_secret":false,"hasToken":true,"requiresAuth":false,"isPin":true}
            {"error":"invalid_grant","error_description":"The refresh token is invalid: sign in again"}
            {"error":"invalid_token","message":"token: is required"}
            {"title":"Out of credit","detail":"Your balance is 30, but that costs 50.","instance":"/account/12345/msgs/abc","status":403}
            {"errors":[{"field":"password","message":"must have 8 characters"}]}
            {"links":{"next":"https://h.example/items?cursor=abc&limit=10","prev":null}}
            {"meta":{"page":1,"per_page":10,"total":95},"cursor":"abc"}
            {"state":"active","nonce":"n","realm":"api","qop":"auth-int"}
            {"timestamps":[1700000000,1700000001],"ts":"1700000000.000100","ok":true}
            {"ok":false,"error":"not_authed","warning":"superfluous_charset"}
            {"channel":{"id":"C012AB3CD","name":"general","is_private":false,"num_members":4}}
            {"cookies":"accepted","secrets":"inherit","tokens":["Hello"," world","."]}
            {"access":{"token_id":7,"level":30},"deploy_tokens":[{"id":1,"name":"ci","revoked":false}]}
            {"web_session":{"user":"ada","since":"2024-01-01T00:00:00Z"},"ssl":{"enabled":true}}
            {"tokens_before":5,"tokens_after":3,"token_budget":{"total":100},"is_pinned":true}
            {"pan":{"x":1,"y":2},"tilt":3,"signature_help":true,"sid":null,"passport":false}
            {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}
            {"data":{"user":{"id":"1","name":"Ada"}},"errors":[{"message":"a","path":["user","token"],"extensions":{"code":"FORBIDDEN"}}]}
            {"weather":[{"id":800,"main":"Clear","icon":"01d"}],"visibility":10000,"wind":{"speed":4.1,"deg":80}}
            {"type":"Feature","geometry":{"type":"Point","coordinates":[13.4,52.5]},"properties":{"pin":{"lat":1,"lon":2}}}
            {"kty":"RSA","use":"sig","alg":"RS256","kid":"k1","n":"0vx7agoebGcQ","e":"AQAB"}
            {"issuer":"https://h.example","jwks_uri":"https://h.example/jwks","token_endpoint":"https://h.example/token"}
            {"id":"evt_1","type":"invoice.paid","created":1700000000,"pending_webhooks":0,"api_version":"2023-10-16"}
            {"path":"/latest/test/","version":"2024-01-01","region":"eu-central-1","host":"db.example.com:5432"}
            {"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":"photos/2024/a.png","size":1024}}}]}
            {"Tags":[{"Key":"Name","Value":"web-1"},{"Key":"env","Value":"prod"}]}
            {"fields":{"issue":{"key":"PROJ-123"},"project":{"key":"PROJ","name":"Project"}}}
            {"features":[{"name":"dark-mode","value":true},{"name":"session_timeout","value":"30m"}]}
            {"coordinates":[13.4,52.5],"temperature":21.5,"humidity":0.4,"sys":{"country":"DE"}}
            {"quota":{"tokens":{"limit":100,"used":5}},"tokens_left":95}
            {"a=b":"c=d","url":"https://h.example/?a=1&b=2#c","mail":"mailto:ada@h.example"}
            {"base64":"aGVsbG8=","uuid":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6","hash":"d41d8cd98f00b204e9800998ecf8427e"}
            {"sort_key":"name","partition_key":"id","primary_key":"id","foreign_keys":[],"hotkey":"K"}
            {"primaryKey":"id","licenseKey":null,"keyboard":"de","monkey":"m"}
            ["a=b&c=d","ann@h.example","\"q\"\n\t\u00e9\/","https:\/\/h.example\/?a=1\u0026b=2","{\"a\":1}","["]
            """#
        ),
        (
            "text",
            #"""
            Invalid token: expired
            Unauthorized: no such user
            Bearer token missing
            Bearer authentication is required
            Basic auth is not supported
            WWW-Authenticate: Bearer realm="api", error="invalid_token"
            token: is required
            password must have 8 characters
            Invalid password: too short (minimum is 8 characters)
            X-RateLimit-Remaining-Tokens: 149984
            The certificate for this server is invalid
            at 12:30, 3 of 7 pages were read
            a: b, c: d, x = y
            page=2 of 7
            max_tokens=5 tokens=12 total_tokens=17
            has_password=true&token=&auth=none
            users[3].email is null, expected String
            ask for risk-free task-force desk-top sk-SK e-mail
            https://host.example/a@b?c=d&page=2&sort=key
            https://api.example.com/v2/latest/test?limit=10&tokens=5#section-2
            ENOENT: no such file, open '/var/log/app.log'
            eyJ is how a token begins; AKIA and ghp_ too
            🙂: 🙂=é
            GET /v1/keys?key= answered 400
            """#
        ),
    ]

    @Test func `nothing that a developer needs is hidden`() {
        var count = 0
        for (service, bodies) in Self.responses {
            for body in bodies.split(separator: "\n") {
                let type: MediaType = service == "text" ? .text : .json
                let shown = String(decoding: Redaction.standard.sentBody(Data(body.utf8), type), as: UTF8.self)
                #expect(shown == body, "\(service)")
                #expect(Redaction.standard.masked(String(body)) == body, "\(service)")
                count += 1
            }
        }
        #expect(count >= 200)
    }
}
