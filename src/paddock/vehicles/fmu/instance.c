/* One instance of a vehicle: all values in one array, in the order of the value references. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { INSTANTIATED, INITIALISING, STEPPING, TERMINATED, FAILED };
enum { OK, WARNING, DISCARD, ERROR, FATAL };

#define MOST_SUBSTEPS 1e6

typedef struct {
    double v[COUNT];
    int32_t mode;
    int32_t stale; /* the outputs are older than the values that they depend on */
} Values;

typedef struct Instance Instance;
struct Instance {
    Values now;
    char *name;
    void *environment;
    void *logger;
};

static void log_message(const Instance *instance, int status, const char *message);

static int fail(const Instance *instance, int status, const char *what, double value)
{
    char text[256];
    snprintf(text, sizeof text, "%s: %.17g", what, value);
    log_message(instance, status, text);
    return status;
}

static void set_defaults(Instance *instance)
{
    memcpy(instance->now.v, DEFAULTS, sizeof DEFAULTS);
    instance->now.mode = INSTANTIATED;
    instance->now.stale = 1;
}

static Instance *new_instance(const char *name, void *environment, void *logger)
{
    Instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        return NULL;
    instance->name = calloc(strlen(name ? name : "") + 1, 1);
    if (!instance->name) {
        free(instance);
        return NULL;
    }
    strcpy(instance->name, name ? name : "");
    instance->environment = environment;
    instance->logger = logger;
    set_defaults(instance);
    return instance;
}

static void free_instance(Instance *instance)
{
    if (instance)
        free(instance->name);
    free(instance);
}

static int get_values(Instance *instance, const unsigned int *references, size_t count, double *values)
{
    for (size_t k = 0; k < count; k++)
        if (references[k] >= COUNT)
            return fail(instance, ERROR, "there is no variable with the value reference", references[k]);
    if (instance->now.stale) {
        if (instance->now.mode < STEPPING)
            model_place(instance->now.v);
        model_show(instance->now.v);
        instance->now.stale = 0;
    }
    for (size_t k = 0; k < count; k++)
        values[k] = instance->now.v[references[k]];
    return OK;
}

static int set_values(Instance *instance, const unsigned int *references, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++) {
        const unsigned int one = references[k];
        char text[200];
        if (one < COMMAND || one >= STATE)
            return fail(instance, ERROR, "this value reference cannot be set", one);
        if (one >= START && instance->now.mode >= STEPPING)
            return fail(instance, ERROR, "the start cannot be set after the initialization; value reference", one);
        if (!(values[k] >= LOWEST[one] && values[k] <= HIGHEST[one])) {
            snprintf(text, sizeof text, "%s must lie in %g to %g", NAMES[one], LOWEST[one], HIGHEST[one]);
            return fail(instance, DISCARD, text, values[k]);
        }
    }
    for (size_t k = 0; k < count; k++)
        instance->now.v[references[k]] = values[k];
    instance->now.stale = 1;
    return OK;
}

static int begin_initialising(Instance *instance, double start)
{
    if (instance->now.mode != INSTANTIATED)
        return fail(instance, ERROR, "the instance has already been initialized; mode", instance->now.mode);
    instance->now.v[TIME] = start;
    instance->now.mode = INITIALISING;
    return OK;
}

static int end_initialising(Instance *instance)
{
    if (instance->now.mode != INITIALISING)
        return fail(instance, ERROR, "the instance is not in initialization mode; mode", instance->now.mode);
    model_place(instance->now.v);
    instance->now.mode = STEPPING;
    instance->now.stale = 1;
    return OK;
}

/* Divide the communication step as the simulator divides its tick: equal substeps, none above DT_MAX. */
static int advance(Instance *instance, double from, double length)
{
    if (instance->now.mode != STEPPING)
        return fail(instance, ERROR, "the instance cannot step; mode", instance->now.mode);
    if (!(length > 0.0) || !isfinite(length) || length > MOST_SUBSTEPS * DT_MAX)
        return fail(instance, ERROR, "the step is a time above 0 s and not too long", length);
    const double wanted = ceil(length / DT_MAX * (1.0 - 1e-9));
    const double substeps = wanted > 1.0 ? wanted : 1.0;
    double rate = 1.0 / length;
    if (fabs(rate - nearbyint(rate)) < 1e-9 * rate)
        rate = nearbyint(rate); /* a step of 1 / rate: the substep has the bits of 1 / (rate * substeps) */
    const double dt = 1.0 / (rate * substeps);
    for (double k = 0.0; k < substeps; k += 1.0)
        model_step(instance->now.v, dt);
    instance->now.v[TIME] = from + length;
    instance->now.stale = 1;
    for (unsigned int k = STATE; k < POSE; k++)
        if (!isfinite(instance->now.v[k])) {
            char text[200];
            instance->now.mode = FAILED;
            snprintf(text, sizeof text, "%s is not finite", NAMES[k]);
            return fail(instance, ERROR, text, instance->now.v[k]);
        }
    return OK;
}

static int copy_state(const Instance *instance, void **state)
{
    if (!*state)
        *state = malloc(sizeof(Values));
    if (!*state)
        return fail(instance, ERROR, "not enough memory for the state, bytes", (double)sizeof(Values));
    memcpy(*state, &instance->now, sizeof(Values));
    return OK;
}

static int load_bytes(const Instance *instance, const void *bytes, size_t size, void **state)
{
    if (size != sizeof(Values))
        return fail(instance, ERROR, "the serialized state has another size", (double)size);
    if (!*state)
        *state = malloc(sizeof(Values));
    if (!*state)
        return fail(instance, ERROR, "not enough memory for the state, bytes", (double)sizeof(Values));
    memcpy(*state, bytes, size);
    return OK;
}
