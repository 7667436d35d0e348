/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The texts of views.sql and fields.sql, which scripts/embed puts into the binary.
 */
#ifndef EBQL_PLAN_VIEWS_H
#define EBQL_PLAN_VIEWS_H

extern const char views_sql[], fields_sql[];

#endif
