// The meaning of the errors of PostgreSQL.

import type { SinkErrorCode } from '../../counters/errors.ts'
import { causesOf } from '../sql/access.ts'

const MEANINGS: readonly [RegExp, SinkErrorCode][] = [
  [/^(40P01|40001|55P03|57014)$/, 'sink-busy'],
  [/^(08...|57P0[1-5]|25006|25P0[34]|53300|E[A-Z_]{4,})$/, 'sink-unreachable'],
  [/^(42P01|42703|42501|42P10|42804|3F000|3D000|28...)$/, 'sink-misconfigured'],
]

/**
 * Classes of codes that are not about the rows: connections, transactions, rights, names, and missing or disallowed
 * features of the server. All other codes are about the rows, including codes made up by a trigger.
 */
const OF_THE_SERVER = /^(0[08ABLPZ]|2[4568D]|3[4BDF]|4[02]|5[3578]|72|F0|HV|XX)...$/
/** The five characters of a PostgreSQL code; none begins like those of Prisma. */
const STATE = /^(?!P[1-9])[0-9A-Z]{5}$/
/** A policy refuses a row: the code alone would mean missing rights. */
const POLICY = /row-level security policy/i

/** The origin of a RAISE of PL/pgSQL. Its author chooses the code, which therefore does not describe the server. */
const RAISED = 'exec_stmt_raise'

/** The server accepts no writes, but did when the connection was made: it is no longer the primary. */
export function isReadOnly(error: unknown): boolean {
  return causesOf(error).some((one) => (one as { code?: unknown }).code === '25006')
}

/** pg reports a lost connection only by its message. */
const LOST =
  /connection (terminated|ended|error)|not queryable|timeout exceeded when trying to connect|query read timeout/i

export function isOfRows(error: object): boolean {
  const { code, message, routine } = error as { code?: unknown; message?: unknown; routine?: unknown }
  if (routine === RAISED) return true
  if (code === '42501') return routine === 'ExecWithCheckOptions' || POLICY.test(String(message))
  return STATE.test(String(code)) && meaningOf(error) === 'sink-failed' && !OF_THE_SERVER.test(String(code))
}

export function meaningOf(error: object): SinkErrorCode {
  const { code, message, routine } = error as { code?: unknown; message?: unknown; routine?: unknown }
  if (routine === RAISED) return 'sink-failed'
  const found = MEANINGS.find(([codes]) => codes.test(String(code)))
  if (found !== undefined) return found[1]
  return code === undefined && LOST.test(String(message)) ? 'sink-unreachable' : 'sink-failed'
}
