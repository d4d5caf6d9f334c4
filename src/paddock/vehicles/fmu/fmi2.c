/* FMI 2.0, co-simulation. */

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);

typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, int);
    void *environment;
} Callbacks;

static void log_message(const Instance *instance, int status, const char *message)
{
    Logger logger;
    memcpy(&logger, &instance->logger, sizeof logger);
    if (logger)
        logger(instance->environment, instance->name, status, "logStatusError", "%s", message);
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }

EXPORTED int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return OK;
}

EXPORTED void *fmi2Instantiate(const char *name, int type, const char *guid, const char *resources,
                               const Callbacks *callbacks, int visible, int logging)
{
    void *logger = NULL;
    (void)resources, (void)visible, (void)logging;
    if (callbacks)
        memcpy(&logger, &callbacks->logger, sizeof logger);
    Instance *instance = new_instance(name, callbacks ? callbacks->environment : NULL, logger);
    if (instance && (type != 1 || !guid || strcmp(guid, TOKEN) != 0)) {
        log_message(instance, ERROR, type != 1 ? "this FMU is for co-simulation" : "the GUID is another one");
        free_instance(instance);
        return NULL;
    }
    return instance;
}

EXPORTED void fmi2FreeInstance(void *c) { free_instance(c); }

EXPORTED int fmi2SetupExperiment(void *c, int tolerant, double tolerance, double start, int stops, double stop)
{
    (void)tolerant, (void)tolerance, (void)stops, (void)stop;
    ((Instance *)c)->now.v[TIME] = start;
    return OK;
}

EXPORTED int fmi2EnterInitializationMode(void *c) { return begin_initialising(c, ((Instance *)c)->now.v[TIME]); }
EXPORTED int fmi2ExitInitializationMode(void *c) { return end_initialising(c); }

EXPORTED int fmi2Terminate(void *c)
{
    ((Instance *)c)->now.mode = TERMINATED;
    return OK;
}

EXPORTED int fmi2Reset(void *c)
{
    set_defaults(c);
    return OK;
}

EXPORTED int fmi2GetReal(void *c, const unsigned int *vr, size_t n, double *value) { return get_values(c, vr, n, value); }

EXPORTED int fmi2SetReal(void *c, const unsigned int *vr, size_t n, const double *value)
{
    return set_values(c, vr, n, value);
}

/* all variables are real numbers */
#define NONE(NAME, TYPE)                                                                  \
    EXPORTED int NAME(void *c, const unsigned int *vr, size_t n, TYPE value)              \
    {                                                                                     \
        (void)vr, (void)value;                                                            \
        return n ? fail(c, ERROR, "there are no variables of this type; wanted", (double)n) : OK; \
    }
NONE(fmi2GetInteger, int *)
NONE(fmi2GetBoolean, int *)
NONE(fmi2GetString, const char **)
NONE(fmi2SetInteger, const int *)
NONE(fmi2SetBoolean, const int *)
NONE(fmi2SetString, const char *const *)

EXPORTED int fmi2GetFMUstate(void *c, void **state) { return copy_state(c, state); }

EXPORTED int fmi2SetFMUstate(void *c, void *state)
{
    memcpy(&((Instance *)c)->now, state, sizeof(Values));
    return OK;
}

EXPORTED int fmi2FreeFMUstate(void *c, void **state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return OK;
}

EXPORTED int fmi2SerializedFMUstateSize(void *c, void *state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(Values);
    return OK;
}

EXPORTED int fmi2SerializeFMUstate(void *c, void *state, char *bytes, size_t size)
{
    if (size < sizeof(Values))
        return fail(c, ERROR, "the state needs more bytes than", (double)size);
    memcpy(bytes, state, sizeof(Values));
    return OK;
}

EXPORTED int fmi2DeSerializeFMUstate(void *c, const char *bytes, size_t size, void **state)
{
    return load_bytes(c, bytes, size, state);
}

EXPORTED int fmi2GetDirectionalDerivative(void *c, const unsigned int *unknowns, size_t n, const unsigned int *knowns,
                                          size_t m, const double *seed, double *result)
{
    (void)unknowns, (void)knowns, (void)m, (void)seed, (void)result;
    return fail(c, ERROR, "directional derivatives are not provided; wanted", (double)n);
}

EXPORTED int fmi2SetRealInputDerivatives(void *c, const unsigned int *vr, size_t n, const int *order, const double *value)
{
    (void)vr, (void)order, (void)value;
    return fail(c, ERROR, "inputs are held during a step; derivatives of inputs", (double)n);
}

EXPORTED int fmi2GetRealOutputDerivatives(void *c, const unsigned int *vr, size_t n, const int *order, double *value)
{
    (void)vr, (void)order, (void)value;
    return fail(c, ERROR, "derivatives of outputs are not provided; wanted", (double)n);
}

EXPORTED int fmi2DoStep(void *c, double from, double length, int final)
{
    (void)final;
    return advance(c, from, length);
}

EXPORTED int fmi2CancelStep(void *c) { return fail(c, ERROR, "no step is pending; time", ((Instance *)c)->now.v[TIME]); }

#define STATUS(NAME, TYPE)                                                     \
    EXPORTED int NAME(void *c, int kind, TYPE *value)                          \
    {                                                                          \
        (void)value;                                                           \
        return fail(c, DISCARD, "this status is not provided; kind", kind);    \
    }
STATUS(fmi2GetStatus, int)
STATUS(fmi2GetIntegerStatus, int)
STATUS(fmi2GetStringStatus, const char *)

EXPORTED int fmi2GetRealStatus(void *c, int kind, double *value)
{
    if (kind != 2) /* time of the last successful step */
        return fail(c, DISCARD, "this status is not provided; kind", kind);
    *value = ((Instance *)c)->now.v[TIME];
    return OK;
}

EXPORTED int fmi2GetBooleanStatus(void *c, int kind, int *value)
{
    if (kind != 3) /* terminated */
        return fail(c, DISCARD, "this status is not provided; kind", kind);
    *value = ((Instance *)c)->now.mode == FAILED;
    return OK;
}
