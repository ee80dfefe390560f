import { Redis } from 'ioredis'

const LONGEST_PAUSE_MS = 500

/**
 * A client that survives restarts of Redis: it tries again for ever and soon, and never gives a command
 * up by itself, for every call of the library has its own deadline. It writes to the database that the URL names, or to none.
 */
export function openClient(url: string, onError: (error: Error) => void): Redis {
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    connectTimeout: 2000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(attempt * 50, LONGEST_PAUSE_MS),
  })
  client.on('error', (error) => {
    // The client itself would go on in database 0.
    if (isOfSelect(error)) client.disconnect(true)
    onError(error)
  })
  return client
}

function isOfSelect(error: Error): boolean {
  return 'command' in error && (error.command as { name?: string } | undefined)?.name === 'select'
}
