// The files that are embedded in the program: the dashboard, the guides, and the description of the API.
#include "assets.h"

// `#embed` is a feature of C23. Clang supports it in older language modes too, but warns about it.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char api_js[] = {
#embed "../../Interfaces/Dashboard/Site/api.js"
};
static const unsigned char app_js[] = {
#embed "../../Interfaces/Dashboard/Site/app.js"
};
static const unsigned char chart_js[] = {
#embed "../../Interfaces/Dashboard/Site/chart.js"
};
static const unsigned char docs_css[] = {
#embed "../../Interfaces/Dashboard/Site/docs.css"
};
static const unsigned char docs_html[] = {
#embed "../../Interfaces/Dashboard/Site/docs.html"
};
static const unsigned char docs_js[] = {
#embed "../../Interfaces/Dashboard/Site/docs.js"
};
static const unsigned char icon_svg[] = {
#embed "../../Interfaces/Dashboard/Site/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../../Interfaces/Dashboard/Site/index.html"
};
static const unsigned char job_js[] = {
#embed "../../Interfaces/Dashboard/Site/job.js"
};
static const unsigned char pages_activity_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/activity.js"
};
static const unsigned char pages_channels_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/channels.js"
};
static const unsigned char pages_deliveries_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/deliveries.js"
};
static const unsigned char pages_emit_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/emit.js"
};
static const unsigned char pages_event_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/event.js"
};
static const unsigned char pages_keys_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/keys.js"
};
static const unsigned char pages_live_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/live.js"
};
static const unsigned char pages_sources_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/sources.js"
};
static const unsigned char pages_streams_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/streams.js"
};
static const unsigned char pages_types_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/types.js"
};
static const unsigned char pages_users_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/users.js"
};
static const unsigned char pages_webhooks_js[] = {
#embed "../../Interfaces/Dashboard/Site/pages/webhooks.js"
};
static const unsigned char parley_hub_js[] = {
#embed "../../Interfaces/Dashboard/Site/parley-hub.js"
};
static const unsigned char parley_js[] = {
#embed "../../Interfaces/Dashboard/Site/parley.js"
};
static const unsigned char receivers_js[] = {
#embed "../../Interfaces/Dashboard/Site/receivers.js"
};
static const unsigned char schemaform_js[] = {
#embed "../../Interfaces/Dashboard/Site/schemaform.js"
};
static const unsigned char style_css[] = {
#embed "../../Interfaces/Dashboard/Site/style.css"
};
static const unsigned char ui_js[] = {
#embed "../../Interfaces/Dashboard/Site/ui.js"
};
static const unsigned char yaml_js[] = {
#embed "../../Interfaces/Dashboard/Site/yaml.js"
};
static const unsigned char openapi_yaml[] = {
#embed "../../../openapi.yaml"
};
static const unsigned char guide_README[] = {
#embed "../../../docs/README.md"
};
static const unsigned char guide_browsers[] = {
#embed "../../../docs/browsers.md"
};
static const unsigned char guide_cluster[] = {
#embed "../../../docs/cluster.md"
};
static const unsigned char guide_command_line[] = {
#embed "../../../docs/command-line.md"
};
static const unsigned char guide_filters[] = {
#embed "../../../docs/filters.md"
};
static const unsigned char guide_glossary[] = {
#embed "../../../docs/glossary.md"
};
static const unsigned char guide_governance[] = {
#embed "../../../docs/governance.md"
};
static const unsigned char guide_metrics[] = {
#embed "../../../docs/metrics.md"
};
static const unsigned char guide_objects[] = {
#embed "../../../docs/objects.md"
};
static const unsigned char guide_operation[] = {
#embed "../../../docs/operation.md"
};
static const unsigned char guide_performance[] = {
#embed "../../../docs/performance.md"
};
static const unsigned char guide_pubnub_coverage[] = {
#embed "../../../docs/pubnub-coverage.md"
};
static const unsigned char guide_pubnub_migration[] = {
#embed "../../../docs/pubnub-migration.md"
};
static const unsigned char guide_quick_start[] = {
#embed "../../../docs/quick-start.md"
};
static const unsigned char guide_scaling[] = {
#embed "../../../docs/scaling.md"
};
static const unsigned char guide_schemas[] = {
#embed "../../../docs/schemas.md"
};
static const unsigned char guide_security[] = {
#embed "../../../docs/security.md"
};
static const unsigned char guide_sources[] = {
#embed "../../../docs/sources.md"
};
static const unsigned char guide_streams[] = {
#embed "../../../docs/streams.md"
};
static const unsigned char guide_swift[] = {
#embed "../../../docs/swift.md"
};
static const unsigned char guide_tokens[] = {
#embed "../../../docs/tokens.md"
};
static const unsigned char guide_troubleshooting[] = {
#embed "../../../docs/troubleshooting.md"
};
static const unsigned char guide_webhooks[] = {
#embed "../../../docs/webhooks.md"
};

#define FILE(name, bytes) {name, bytes, sizeof(bytes)}

static const Asset site[] = {
    FILE("api.js", api_js),
    FILE("app.js", app_js),
    FILE("chart.js", chart_js),
    FILE("docs.css", docs_css),
    FILE("docs.html", docs_html),
    FILE("docs.js", docs_js),
    FILE("icon.svg", icon_svg),
    FILE("index.html", index_html),
    FILE("job.js", job_js),
    FILE("pages/activity.js", pages_activity_js),
    FILE("pages/channels.js", pages_channels_js),
    FILE("pages/deliveries.js", pages_deliveries_js),
    FILE("pages/emit.js", pages_emit_js),
    FILE("pages/event.js", pages_event_js),
    FILE("pages/keys.js", pages_keys_js),
    FILE("pages/live.js", pages_live_js),
    FILE("pages/sources.js", pages_sources_js),
    FILE("pages/streams.js", pages_streams_js),
    FILE("pages/types.js", pages_types_js),
    FILE("pages/users.js", pages_users_js),
    FILE("pages/webhooks.js", pages_webhooks_js),
    FILE("parley-hub.js", parley_hub_js),
    FILE("parley.js", parley_js),
    FILE("receivers.js", receivers_js),
    FILE("schemaform.js", schemaform_js),
    FILE("style.css", style_css),
    FILE("ui.js", ui_js),
    FILE("yaml.js", yaml_js),
};

size_t site_file_count(void) { return sizeof(site) / sizeof(site[0]); }

Asset site_file(size_t index) { return site[index]; }

static const Asset guides[] = {
    FILE("README", guide_README),
    FILE("browsers", guide_browsers),
    FILE("cluster", guide_cluster),
    FILE("command-line", guide_command_line),
    FILE("filters", guide_filters),
    FILE("glossary", guide_glossary),
    FILE("governance", guide_governance),
    FILE("metrics", guide_metrics),
    FILE("objects", guide_objects),
    FILE("operation", guide_operation),
    FILE("performance", guide_performance),
    FILE("pubnub-coverage", guide_pubnub_coverage),
    FILE("pubnub-migration", guide_pubnub_migration),
    FILE("quick-start", guide_quick_start),
    FILE("scaling", guide_scaling),
    FILE("schemas", guide_schemas),
    FILE("security", guide_security),
    FILE("sources", guide_sources),
    FILE("streams", guide_streams),
    FILE("swift", guide_swift),
    FILE("tokens", guide_tokens),
    FILE("troubleshooting", guide_troubleshooting),
    FILE("webhooks", guide_webhooks),
};

size_t guide_count(void) { return sizeof(guides) / sizeof(guides[0]); }

Asset guide(size_t index) { return guides[index]; }

Asset openapi_description(void) { return (Asset)FILE("openapi.yaml", openapi_yaml); }
