import sys

import pytest

from ragcli.errors import ModelUnusable
from ragcli.models import processor

CLOUD = {"sse4_2", "avx", "f16c", "fma", "bmi2", "avx2", "avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw",
         "avx512vbmi", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16"}  # fmt: skip


def on(options):
    return {option[2:-3] for option in options if option.endswith("=ON")}


def test_amx_and_native_are_never_built_in_whatever_the_processor_lists():
    options = processor.cmake_options(CLOUD, "x86_64", "Linux")
    assert {"-DGGML_NATIVE=OFF", "-DGGML_AMX_TILE=OFF", "-DGGML_AMX_INT8=OFF", "-DGGML_AMX_BF16=OFF"} <= set(
        options
    )
    assert {"GGML_AVX2", "GGML_AVX512", "GGML_AVX512_VBMI", "GGML_AVX512_VNNI", "GGML_AVX512_BF16"} <= on(
        options
    )


def test_a_processor_gets_only_what_it_lists():
    assert on(processor.cmake_options(processor.PORTABLE, "x86_64", "Linux")) == {
        "GGML_SSE42", "GGML_AVX", "GGML_AVX2", "GGML_FMA", "GGML_F16C", "GGML_BMI2",
    }  # fmt: skip
    assert on(processor.cmake_options({"sse4_2", "avx"}, "x86_64", "Linux")) == {"GGML_SSE42", "GGML_AVX"}
    lame = CLOUD - {"avx512bw"}
    assert not {name for name in on(processor.cmake_options(lame, "x86_64", "Linux")) if "AVX512" in name}


def test_arm_and_apple_get_their_own_level():
    assert "-DGGML_CPU_ARM_ARCH=armv8-a" in processor.cmake_options(set(), "aarch64", "Linux")
    assert "-DGGML_CPU_ARM_ARCH=armv8.2-a+dotprod+fp16" in processor.cmake_options(set(), "arm64", "Darwin")
    assert "-DGGML_METAL=OFF" in processor.cmake_options(set(), "arm64", "Darwin")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGILL"])
def test_a_build_that_dies_is_found_in_a_child_and_the_remedy_can_be_typed(name):
    child = (sys.executable, "-c", f"import os, signal; os.kill(os.getpid(), signal.{name})")
    with pytest.raises(ModelUnusable) as caught:
        processor.check_llama(None, child)
    assert caught.value.kind == "llama_dies"
    assert caught.value.fields["signal"] == name
    command = str(caught.value.fields["command"])
    assert "GGML_NATIVE=OFF" in command
    assert "pip install --force-reinstall" in command


def test_a_library_that_cannot_be_loaded_is_told_with_its_last_line():
    child = (sys.executable, "-c", "raise OSError('libllama.so: not found')")
    with pytest.raises(ModelUnusable) as caught:
        processor.check_llama(None, child)
    assert caught.value.kind == "llama_fails"
    assert "libllama.so" in str(caught.value.fields["reason"])


def test_what_ran_is_told():
    assert (
        processor.check_llama(None, (sys.executable, "-c", "print('llama.cpp 1, tiny')"))
        == "llama.cpp 1, tiny"
    )
