/* FMI 3.0, co-simulation. */

typedef void (*Logger)(void *, int, const char *, const char *);

static void log_message(const Instance *instance, int status, const char *message)
{
    Logger logger;
    memcpy(&logger, &instance->logger, sizeof logger);
    if (logger)
        logger(instance->environment, status, "logStatusError", message);
}

static int absent(const Instance *instance, const char *what)
{
    log_message(instance, ERROR, what);
    return ERROR;
}

EXPORTED const char *fmi3GetVersion(void) { return "3.0"; }

EXPORTED int fmi3SetDebugLogging(void *c, bool on, size_t n, const char *const categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return OK;
}

EXPORTED void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                           bool logging, bool events, bool early, const unsigned int *required,
                                           size_t count, void *environment, Logger logger, void (*update)(void))
{
    void *kept;
    (void)resources, (void)visible, (void)logging, (void)events, (void)early, (void)required, (void)count, (void)update;
    memcpy(&kept, &logger, sizeof kept);
    Instance *instance = new_instance(name, environment, kept);
    if (instance && (!token || strcmp(token, TOKEN) != 0)) {
        log_message(instance, ERROR, "the instantiation token is another one");
        free_instance(instance);
        return NULL;
    }
    return instance;
}

EXPORTED void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                            bool logging, void *environment, Logger logger)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    if (logger)
        logger(environment, ERROR, "logStatusError", "this FMU is for co-simulation");
    return NULL;
}

EXPORTED void *fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources,
                                                 bool visible, bool logging, void *environment, Logger logger,
                                                 void (*update)(void), void (*lock)(void), void (*unlock)(void))
{
    (void)update, (void)lock, (void)unlock;
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, logger);
}

EXPORTED void fmi3FreeInstance(void *c) { free_instance(c); }

EXPORTED int fmi3EnterInitializationMode(void *c, bool tolerant, double tolerance, double start, bool stops, double stop)
{
    (void)tolerant, (void)tolerance, (void)stops, (void)stop;
    return begin_initialising(c, start);
}

EXPORTED int fmi3ExitInitializationMode(void *c) { return end_initialising(c); }

EXPORTED int fmi3Terminate(void *c)
{
    ((Instance *)c)->now.mode = TERMINATED;
    return OK;
}

EXPORTED int fmi3Reset(void *c)
{
    set_defaults(c);
    return OK;
}

EXPORTED int fmi3GetFloat64(void *c, const unsigned int *vr, size_t n, double *values, size_t m)
{
    return n == m ? get_values(c, vr, n, values) : absent(c, "as many values as value references are needed");
}

EXPORTED int fmi3SetFloat64(void *c, const unsigned int *vr, size_t n, const double *values, size_t m)
{
    return n == m ? set_values(c, vr, n, values) : absent(c, "as many values as value references are needed");
}

/* all variables are Float64 */
#define NONE(NAME, TYPE)                                                                     \
    EXPORTED int fmi3Get##NAME(void *c, const unsigned int *vr, size_t n, TYPE *v, size_t m) \
    {                                                                                        \
        (void)vr, (void)v, (void)m;                                                          \
        return n ? absent(c, "there are no variables of this type") : OK;                    \
    }                                                                                        \
    EXPORTED int fmi3Set##NAME(void *c, const unsigned int *vr, size_t n, const TYPE *v, size_t m) \
    {                                                                                        \
        (void)vr, (void)v, (void)m;                                                          \
        return n ? absent(c, "there are no variables of this type") : OK;                    \
    }
NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(Int32, int32_t)
NONE(UInt32, uint32_t)
NONE(Int64, int64_t)
NONE(UInt64, uint64_t)
NONE(Boolean, bool)
NONE(String, char *)

#define ABSENT(NAME, WHAT, ...)                          \
    EXPORTED int fmi3##NAME(void *c, __VA_ARGS__)        \
    {                                                    \
        return absent(c, WHAT);                          \
    }
#define NO_TYPE "there are no variables of this type"
#define NO_CLOCKS "there are no clocks"
#define NO_MODE "this mode does not exist in this FMU"
#define NO_DERIVATIVES "derivatives are not provided"
#define NO_STATES "continuous states are not shown"

typedef const unsigned int *References;

ABSENT(GetBinary, NO_TYPE, References vr, size_t n, size_t *sizes, const uint8_t **v, size_t m)
ABSENT(SetBinary, NO_TYPE, References vr, size_t n, const size_t *sizes, const uint8_t *const *v, size_t m)
ABSENT(GetClock, NO_CLOCKS, References vr, size_t n, bool *v)
ABSENT(SetClock, NO_CLOCKS, References vr, size_t n, const bool *v)
ABSENT(GetIntervalDecimal, NO_CLOCKS, References vr, size_t n, double *v, int *qualifiers)
ABSENT(GetIntervalFraction, NO_CLOCKS, References vr, size_t n, uint64_t *counters, uint64_t *resolutions, int *qualifiers)
ABSENT(GetShiftDecimal, NO_CLOCKS, References vr, size_t n, double *v)
ABSENT(GetShiftFraction, NO_CLOCKS, References vr, size_t n, uint64_t *counters, uint64_t *resolutions)
ABSENT(SetIntervalDecimal, NO_CLOCKS, References vr, size_t n, const double *v)
ABSENT(SetIntervalFraction, NO_CLOCKS, References vr, size_t n, const uint64_t *counters, const uint64_t *resolutions)
ABSENT(SetShiftDecimal, NO_CLOCKS, References vr, size_t n, const double *v)
ABSENT(SetShiftFraction, NO_CLOCKS, References vr, size_t n, const uint64_t *counters, const uint64_t *resolutions)
ABSENT(ActivateModelPartition, NO_CLOCKS, unsigned int clock, double time)
ABSENT(GetNumberOfVariableDependencies, "dependencies are in modelDescription.xml", unsigned int vr, size_t *n)
ABSENT(GetVariableDependencies, "dependencies are in modelDescription.xml", unsigned int vr, size_t *elements,
       unsigned int *independents, size_t *other, int *kinds, size_t n)
ABSENT(GetDirectionalDerivative, NO_DERIVATIVES, References unknowns, size_t n, References knowns, size_t m,
       const double *seed, size_t k, double *result, size_t l)
ABSENT(GetAdjointDerivative, NO_DERIVATIVES, References unknowns, size_t n, References knowns, size_t m,
       const double *seed, size_t k, double *result, size_t l)
ABSENT(GetOutputDerivatives, NO_DERIVATIVES, References vr, size_t n, const int32_t *orders, double *v, size_t m)
ABSENT(SetTime, NO_MODE, double time)
ABSENT(CompletedIntegratorStep, NO_MODE, bool final, bool *event, bool *terminate)
ABSENT(SetContinuousStates, NO_STATES, const double *x, size_t n)
ABSENT(GetContinuousStates, NO_STATES, double *x, size_t n)
ABSENT(GetContinuousStateDerivatives, NO_STATES, double *x, size_t n)
ABSENT(GetNominalsOfContinuousStates, NO_STATES, double *x, size_t n)
ABSENT(GetEventIndicators, NO_STATES, double *x, size_t n)
ABSENT(GetNumberOfContinuousStates, NO_STATES, size_t *n)
ABSENT(GetNumberOfEventIndicators, NO_STATES, size_t *n)

EXPORTED int fmi3EnterEventMode(void *c) { return absent(c, NO_MODE); }
EXPORTED int fmi3EnterStepMode(void *c) { return absent(c, NO_MODE); }
EXPORTED int fmi3EnterContinuousTimeMode(void *c) { return absent(c, NO_MODE); }
EXPORTED int fmi3EnterConfigurationMode(void *c) { return absent(c, NO_MODE); }
EXPORTED int fmi3ExitConfigurationMode(void *c) { return absent(c, NO_MODE); }
EXPORTED int fmi3EvaluateDiscreteStates(void *c) { return absent(c, NO_MODE); }

EXPORTED int fmi3UpdateDiscreteStates(void *c, bool *more, bool *terminate, bool *nominals, bool *values, bool *timed,
                                      double *next)
{
    (void)more, (void)terminate, (void)nominals, (void)values, (void)timed, (void)next;
    return absent(c, NO_MODE);
}

EXPORTED int fmi3GetFMUState(void *c, void **state) { return copy_state(c, state); }

EXPORTED int fmi3SetFMUState(void *c, void *state)
{
    memcpy(&((Instance *)c)->now, state, sizeof(Values));
    return OK;
}

EXPORTED int fmi3FreeFMUState(void *c, void **state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return OK;
}

EXPORTED int fmi3SerializedFMUStateSize(void *c, void *state, size_t *size)
{
    (void)c, (void)state;
    *size = sizeof(Values);
    return OK;
}

EXPORTED int fmi3SerializeFMUState(void *c, void *state, uint8_t *bytes, size_t size)
{
    if (size < sizeof(Values))
        return fail(c, ERROR, "the state needs more bytes than", (double)size);
    memcpy(bytes, state, sizeof(Values));
    return OK;
}

EXPORTED int fmi3DeserializeFMUState(void *c, const uint8_t *bytes, size_t size, void **state)
{
    return load_bytes(c, bytes, size, state);
}

EXPORTED int fmi3DoStep(void *c, double from, double length, bool final, bool *event, bool *terminate, bool *early,
                        double *last)
{
    (void)final;
    const int status = advance(c, from, length);
    *event = *terminate = *early = false;
    *last = ((Instance *)c)->now.v[TIME];
    return status;
}
