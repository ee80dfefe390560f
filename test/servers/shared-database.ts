import { inject } from 'vitest'
import type { DatabaseKind } from './databases.ts'

/** The port of a database that the whole run shares; the first who asks waits until it has started. */
export async function databasePort(kind: DatabaseKind): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${inject('databasesPort')}/${kind}`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return Number(text)
}
