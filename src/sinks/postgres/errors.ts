// What errors of PostgreSQL mean.

import type { SinkErrorCode } from '../../counters/errors.ts'
import { causesOf } from '../sql/access.ts'

const MEANINGS: readonly [RegExp, SinkErrorCode][] = [
  [/^(40P01|40001|55P03|57014)$/, 'sink-busy'],
  [/^(08...|57P0[1-5]|25006|25P0[34]|53300|E[A-Z_]{4,})$/, 'sink-unreachable'],
  [/^(42P01|42703|42501|42P10|42804|3F000|3D000|28...)$/, 'sink-misconfigured'],
]

/**
 * Classes of codes that say nothing of the rows: connections, transactions, rights, names, what the server lacks or was told. All
 * others do, those too that a trigger makes up.
 */
const OF_THE_SERVER = /^(0[08ABLPZ]|2[4568D]|3[4BDF]|4[02]|5[3578]|72|F0|HV|XX)...$/
/** Five characters of a code of PostgreSQL, of which none begins as those of Prisma do. */
const STATE = /^(?!P[1-9])[0-9A-Z]{5}$/
/** Where a policy refuses a row: the code alone would say that rights are missing. */
const POLICY = /row-level security policy/i

/** Where a RAISE of PL/pgSQL comes from. Its code is of somebody's choice, and says nothing of the server. */
const RAISED = 'exec_stmt_raise'

/** The server takes no writes, and did when the connection was made: it is the primary no more. */
export function isReadOnly(error: unknown): boolean {
  return causesOf(error).some((one) => (one as { code?: unknown }).code === '25006')
}

/** pg tells of a lost connection in words only. */
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
