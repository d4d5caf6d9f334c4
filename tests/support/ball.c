/* A bouncing ball as an FMU (FMI 2.0, co-simulation), written by hand: inputs of all types, no saving of its state. */

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Logger)(void *, const char *, int, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *allocate, *release, *finished, *environment;
} Callbacks;
typedef struct {
    double height, speed, east, gravity, bounce, push, north; /* value references 0 to 6 */
    int gear, stuck;                                          /* 0 of the integers, 0 of the booleans */
    double time;
    Logger logger;
} Ball;

enum { OK, WARNING, DISCARD, ERROR };

const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const *names) { return OK; }

void *fmi2Instantiate(const char *name, int type, const char *guid, const char *where, const Callbacks *call, int v, int l)
{
    Ball *ball = calloc(1, sizeof *ball);
    ball->height = 1.0, ball->gravity = 9.81, ball->bounce = 0.7, ball->gear = 1, ball->logger = call->logger;
    return ball;
}

void fmi2FreeInstance(void *c) { free(c); }
int fmi2SetupExperiment(void *c, int d, double t, double start, int s, double stop) { return ((Ball *)c)->time = start, OK; }
int fmi2EnterInitializationMode(void *c) { return OK; }
int fmi2ExitInitializationMode(void *c) { return OK; }
int fmi2Terminate(void *c) { return OK; }
int fmi2Reset(void *c) { return OK; }

int fmi2GetReal(void *c, const unsigned *vr, size_t n, double *v)
{
    for (size_t k = 0; k < n; k++)
        v[k] = ((double *)c)[vr[k]];
    return OK;
}

int fmi2SetReal(void *c, const unsigned *vr, size_t n, const double *v)
{
    for (size_t k = 0; k < n; k++)
        ((double *)c)[vr[k]] = v[k];
    return OK;
}

int fmi2GetInteger(void *c, const unsigned *vr, size_t n, int *v) { return n ? (*v = ((Ball *)c)->gear, OK) : OK; }
int fmi2SetInteger(void *c, const unsigned *vr, size_t n, const int *v) { return n ? (((Ball *)c)->gear = *v, OK) : OK; }
int fmi2GetBoolean(void *c, const unsigned *vr, size_t n, int *v) { return n ? (*v = ((Ball *)c)->stuck, OK) : OK; }
int fmi2SetBoolean(void *c, const unsigned *vr, size_t n, const int *v) { return n ? (((Ball *)c)->stuck = *v, OK) : OK; }
int fmi2GetString(void *c, const unsigned *vr, size_t n, const char **v) { return ERROR; }
int fmi2SetString(void *c, const unsigned *vr, size_t n, const char *const *v) { return ERROR; }

/* exact between two bounces */
int fmi2DoStep(void *c, double time, double length, int final)
{
    Ball *b = c;
    double left = length;
    if (fabs(time - b->time) > 1e-9 || b->gear > 3) {
        b->logger(NULL, "ball", ERROR, "error", b->gear > 3 ? "gear %d does not exist" : "time jumps (%d)", b->gear);
        return ERROR;
    }
    for (int k = 0; k < 20 && left > 0.0 && !b->stuck; k++) {
        const double root = b->speed * b->speed + 2.0 * b->gravity * b->height;
        const double fall = (b->speed + sqrt(root)) / b->gravity, part = fall < left ? fall : left;
        b->height += part * (b->speed - 0.5 * b->gravity * part);
        b->speed -= b->gravity * part;
        left -= part;
        if (part == fall)
            b->height = 0.0, b->speed *= -b->bounce;
    }
    b->east += b->stuck ? 0.0 : length * b->push * b->gear;
    b->time = time + length;
    return OK;
}

int fmi2CancelStep(void *c) { return ERROR; }
int fmi2GetFMUstate(void *c, void **s) { return ERROR; }
int fmi2SetFMUstate(void *c, void *s) { return ERROR; }
int fmi2FreeFMUstate(void *c, void **s) { return ERROR; }
int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { return ERROR; }
int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n) { return ERROR; }
int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s) { return ERROR; }
int fmi2GetDirectionalDerivative(void *c, const unsigned *u, size_t n, const unsigned *k, size_t m, const double *d, double *r)
{
    return ERROR;
}
int fmi2SetRealInputDerivatives(void *c, const unsigned *vr, size_t n, const int *o, const double *v) { return ERROR; }
int fmi2GetRealOutputDerivatives(void *c, const unsigned *vr, size_t n, const int *o, double *v) { return ERROR; }
int fmi2GetStatus(void *c, int k, int *v) { return ERROR; }
int fmi2GetRealStatus(void *c, int k, double *v) { return ERROR; }
int fmi2GetIntegerStatus(void *c, int k, int *v) { return ERROR; }
int fmi2GetBooleanStatus(void *c, int k, int *v) { return ERROR; }
int fmi2GetStringStatus(void *c, int k, const char **v) { return ERROR; }
