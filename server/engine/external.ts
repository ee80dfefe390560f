import { connectTo, place } from './connection.ts'
import type { Engine } from './engine.ts'
import { readSettings } from './settings.ts'

/** A server that someone else runs; it is never stopped by us. */
export async function useExternal(url: string): Promise<Engine> {
  const client = await connectTo(url)
  try {
    const settings = await readSettings(client)
    return { url, kind: 'external', description: `Redis at ${place(url)}`, ...settings, stop: async () => {} }
  } finally {
    client.disconnect()
  }
}
