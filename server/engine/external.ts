import { connectTo, place } from './connection.ts'
import type { Engine } from './engine.ts'
import { readSettings } from './settings.ts'

const PATIENCE_MS = 1000

/** A server run by someone else; the service never stops it. */
export async function useExternal(url: string, say: (line: string) => void): Promise<Engine> {
  const where = place(url)
  // It may be loading its data, or be a machine that never answers.
  const waiting = setTimeout(() => say(`waiting for the Redis at ${where}`), PATIENCE_MS)
  const client = await connectTo(url).finally(() => clearTimeout(waiting))
  try {
    const settings = await readSettings(client)
    return { url, kind: 'external', description: `Redis at ${where}`, ...settings, stop: async () => {} }
  } finally {
    client.disconnect()
  }
}
