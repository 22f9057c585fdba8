/* cuda_memory.cu - devices, their memory, streams and graphs: the last part of cuda_device.h, by CUDA's runtime.
 *
 * Memory comes from cudaMalloc only, never managed, so that a fit that is too large fails. Streams do not wait for the
 * default stream, so work there (zeroing new memory) ends before a function returns. */
#include "cuda_device.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

static cudaStream_t stream_of(device_stream *s)
{
    return (cudaStream_t)(void *)s;
}

/* A refusal stays behind as the runtime's last error, where the next launch would find it: it is taken away.
 * */
static int status_of(cudaError_t e)
{
    if (e != cudaSuccess)
        (void)cudaGetLastError();
    return (int)e;
}

extern "C" const char *device_text(int status)
{
    switch (status) {
    case DEVICE_HOST_MEMORY:
        return "not enough memory on the host";
    case DEVICE_REFUSED:
        return "a size that no kernel was written for";
    default:
        return cudaGetErrorString((cudaError_t)status);
    }
}

extern "C" int device_count(int *count)
{
    *count = 0;
    return status_of(cudaGetDeviceCount(count));
}

extern "C" int device_describe(int device, device_facts *out)
{
    cudaDeviceProp p;
    int before = 0;
    memset(out, 0, sizeof *out);
    cudaError_t e = cudaGetDevice(&before);
    if (e == cudaSuccess)
        e = cudaGetDeviceProperties(&p, device);
    if (e == cudaSuccess)
        e = cudaSetDevice(device);
    if (e != cudaSuccess)
        return status_of(e);
    snprintf(out->name, sizeof out->name, "%.127s", p.name);
    out->major = p.major;
    out->minor = p.minor;
    out->multiprocessors = p.multiProcessorCount;
    out->l2 = (size_t)p.l2CacheSize;
    out->shared_per_block = p.sharedMemPerBlockOptin;
    e = cudaMemGetInfo(&out->memory_free, &out->memory);
    if (e == cudaSuccess)
        e = cudaDriverGetVersion(&out->driver);
    if (e == cudaSuccess)
        e = cudaRuntimeGetVersion(&out->runtime);
    const cudaError_t back = cudaSetDevice(before);
    return status_of(e != cudaSuccess ? e : back);
}

extern "C" int device_use(int device)
{
    return status_of(cudaSetDevice(device));
}

extern "C" int device_new(void **out, size_t bytes)
{
    void *p = NULL;
    cudaError_t e = cudaMalloc(&p, bytes > 0 ? bytes : 1);
    if (e == cudaSuccess)
        e = cudaMemset(p, 0, bytes > 0 ? bytes : 1);
    if (e == cudaSuccess) /* streams made here do not wait for the default one */
        e = cudaStreamSynchronize(cudaStreamLegacy);
    if (e != cudaSuccess) {
        (void)cudaFree(p);
        return status_of(e);
    }
    *out = p;
    return 0;
}

extern "C" void device_free(void *p)
{
    (void)status_of(cudaFree(p));
}

extern "C" int device_put(void *to, const void *from, size_t bytes, device_stream *stream)
{
    return bytes == 0 ? 0 : status_of(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_of(stream)));
}

extern "C" int device_get(void *to, const void *from, size_t bytes, device_stream *stream)
{
    cudaError_t e = cudaSuccess;
    if (bytes > 0)
        e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_of(stream));
    if (e == cudaSuccess)
        e = cudaStreamSynchronize(stream_of(stream));
    return status_of(e);
}

extern "C" int device_zero(void *p, size_t bytes, device_stream *stream)
{
    return bytes == 0 ? 0 : status_of(cudaMemsetAsync(p, 0, bytes, stream_of(stream)));
}

extern "C" int device_stream_open(device_stream **out)
{
    cudaStream_t s = NULL;
    const int status = status_of(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    if (status == 0)
        *out = (device_stream *)(void *)s;
    return status;
}

extern "C" void device_stream_close(device_stream *s)
{
    if (s != NULL)
        (void)status_of(cudaStreamDestroy(stream_of(s)));
}

extern "C" int device_wait(device_stream *s)
{
    return status_of(cudaStreamSynchronize(stream_of(s)));
}

/* Thread-local: another thread may go on with its own fit, and allocate, while this one records. */
extern "C" int device_capture_begin(device_stream *s)
{
    return status_of(cudaStreamBeginCapture(stream_of(s), cudaStreamCaptureModeThreadLocal));
}

extern "C" int device_capture_end(device_stream *s, device_graph **out)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cudaError_t e = cudaStreamEndCapture(stream_of(s), &graph);
    if (e == cudaSuccess)
        e = cudaGraphInstantiate(&ready, graph, 0);
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
    if (e == cudaSuccess)
        *out = (device_graph *)(void *)ready;
    return status_of(e);
}

extern "C" int device_graph_launch(device_graph *g, device_stream *s)
{
    return status_of(cudaGraphLaunch((cudaGraphExec_t)(void *)g, stream_of(s)));
}

extern "C" void device_graph_close(device_graph *g)
{
    if (g != NULL)
        (void)status_of(cudaGraphExecDestroy((cudaGraphExec_t)(void *)g));
}
