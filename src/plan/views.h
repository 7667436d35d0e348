/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The text of views.sql, which tools/embed puts into the binary.
 */
#ifndef EBQL_PLAN_VIEWS_H
#define EBQL_PLAN_VIEWS_H

extern const char views_sql[];

#endif
