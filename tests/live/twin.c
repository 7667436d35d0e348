/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "twin.h"

twin_function other_twin(void)
{
	return twin_call;
}
