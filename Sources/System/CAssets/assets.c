// The files that are part of the program: those of the dashboard, and the description of the API.
#include "assets.h"

// `#embed` is C23; this compiler has it in every mode.
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

Asset openapi_description(void) { return (Asset)FILE("openapi.yaml", openapi_yaml); }
