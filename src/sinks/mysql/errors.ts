// The meaning of the errors of MySQL and MariaDB, by their numbers.

import type { SinkErrorCode } from '../../counters/errors.ts'
import { causesOf } from '../sql/access.ts'

/** The server accepts no writes, but did when the connection was made: it is no longer the primary. */
const READ_ONLY = [1290, 1792, 1836]

export function isReadOnly(error: unknown): boolean {
  return causesOf(error).some((one) => READ_ONLY.includes(Number((one as { errno?: unknown }).errno)))
}

/** Characteristics of a transaction can only be set before it begins. */
export function isWithinTransaction(error: unknown): boolean {
  return (error as { errno?: unknown } | null)?.errno === 1568
}

const MEANINGS: Readonly<Record<SinkErrorCode, readonly number[]>> = {
  // Includes statements that timed out or were killed, and those that met a change of the table.
  'sink-busy': [1213, 1205, 1020, 1317, 1412, 1969, 3024, 3101, 3572],
  'sink-unreachable': [
    1040,
    1047,
    1053,
    1158,
    1159,
    1160,
    1161,
    1203,
    1226,
    1927,
    2006,
    2013,
    4031,
    ...READ_ONLY,
  ],
  'sink-misconfigured': [1044, 1045, 1049, 1054, 1142, 1143, 1146, 1665],
  'sink-refused': [],
  'sink-failed': [],
}

/** Disks, memory, logs, damaged tables. */
const OF_THE_SERVER = new Set([
  1016, 1017, 1021, 1023, 1026, 1030, 1034, 1037, 1038, 1041, 1114, 1180, 1194, 1195, 1197, 1206, 1814, 3100,
])

const LOST = /^(ECONN.*|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|PROTOCOL_.*)$/
const CLOSED = /closed state|connection is (closed|lost)/i

/** The SQLSTATE of a SIGNAL: its author chooses the error number, which therefore does not describe the server. */
const SIGNALLED = '45000'

export function isOfRows(error: object): boolean {
  const number = numberOf(error)
  if ((error as { sqlState?: unknown }).sqlState === SIGNALLED) return true
  return number > 0 && !OF_THE_SERVER.has(number) && meaningOf(error) === 'sink-failed'
}

/** Some libraries have the number in the place of the code, as text. */
function numberOf(error: object): number {
  const { errno, code } = error as { errno?: unknown; code?: unknown }
  return typeof errno === 'number' ? errno : Number(code)
}

export function meaningOf(error: object): SinkErrorCode {
  const { code, message, sqlState } = error as { code?: unknown; message?: unknown; sqlState?: unknown }
  if (sqlState === SIGNALLED) return 'sink-failed'
  if (LOST.test(String(code)) || CLOSED.test(String(message))) return 'sink-unreachable'
  const codes = Object.keys(MEANINGS) as SinkErrorCode[]
  return codes.find((meaning) => MEANINGS[meaning].includes(numberOf(error))) ?? 'sink-failed'
}
