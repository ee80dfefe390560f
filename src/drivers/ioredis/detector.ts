// ioredis (5.11.1 and 6.0.0) with `failoverDetector: true` can end permanently. This happens when a Sentinel reports a
// failover while the client, whose connection broke, asks a Sentinel for the primary. The detector of the old
// connection then closes a connection that does not exist yet, and the connection attempt takes that for a
// `disconnect()` of the user.

import type { Redis } from 'ioredis'

/** Fields without a public type in ioredis. */
interface Inside {
  /** True from a `disconnect()` or `quit()` of the user until the connection has closed. */
  readonly manuallyClosing?: boolean
  readonly connector?: { readonly failoverDetector?: { readonly isDisconnected?: boolean } | null }
}

/** Reconnects whenever the client ended this way. Returns a function that stops this. */
export function connectThroughFailovers(client: Redis): () => void {
  if (client.options.failoverDetector !== true) return () => undefined
  /** False once the detector has finished: an end then has another reason. */
  let mayBeEnded = false
  const onConnecting = (): void => {
    mayBeEnded = !hasDetected(client) && !isClosedByUser(client)
  }
  const onClose = (): void => {
    mayBeEnded = false
  }
  const onEnd = (): void => {
    const isMistaken = mayBeEnded && hasDetected(client) && !isClosedByUser(client)
    mayBeEnded = false
    if (isMistaken) client.connect().catch(() => undefined) // it keeps retrying by itself
  }
  client.on('connecting', onConnecting).on('close', onClose).on('end', onEnd)
  return () => client.off('connecting', onConnecting).off('close', onClose).off('end', onEnd)
}

function hasDetected(client: Redis): boolean {
  return inside(client).connector?.failoverDetector?.isDisconnected === true
}

function isClosedByUser(client: Redis): boolean {
  return inside(client).manuallyClosing === true
}

function inside(client: object): Inside {
  return client
}
