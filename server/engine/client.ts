import { Redis } from 'ioredis'

const LONGEST_PAUSE_MS = 500

/**
 * A client that survives restarts of Redis: it reconnects soon and forever, and never gives up a command by itself,
 * because every call of the library has its own deadline. It writes only to the database that the URL names.
 */
export function openClient(url: string, onError: (error: Error) => void): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 2000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_PAUSE_MS),
  })
  client.on('error', (error) => {
    // The client itself would continue in database 0.
    if (isOfSelect(error)) client.disconnect(true)
    onError(error)
  })
  return client
}

function isOfSelect(error: Error): boolean {
  return 'command' in error && (error.command as { name?: string } | undefined)?.name === 'select'
}
