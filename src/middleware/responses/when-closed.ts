// The end of a response of Node. Of one that waits behind another on its connection, for its client did not wait for that, Node tells
// nothing when the client leaves: there the connection is what tells.

/** What is used of a socket. */
interface Connection {
  readonly destroyed?: boolean
  once(event: 'close', listener: () => void): unknown
}

/** What is used of a response of Node: over HTTP/2 it is the stream that tells. */
export interface Closing {
  readonly destroyed?: boolean
  readonly stream?: { readonly destroyed: boolean } | null
  /** Null where it has no turn on its connection. */
  readonly socket?: unknown
  readonly req?: { readonly socket?: Connection | null }
  once(event: 'close' | 'finish', listener: () => void): unknown
}

/** Runs the task once the response has been sent or its client has left; now, where that was while the store was asked. */
export function whenClosed(response: Closing, task: () => void): void {
  const connection = waitsOn(response)
  if (isClosed(response)) task()
  else if (connection === null) response.once('close', task)
  else whenEither(response, connection, task)
}

export function isClosed(response: Closing): boolean {
  const { destroyed, stream } = response
  return (destroyed ?? stream?.destroyed ?? false) || waitsOn(response)?.destroyed === true
}

/** The connection on which the response waits for its turn; null: it has that. */
function waitsOn({ socket, req }: Closing): Connection | null {
  return socket === null ? (req?.socket ?? null) : null
}

// Any number of responses may wait on one connection.
const tasksOf = new WeakMap<Connection, Set<() => void>>()

function whenEither(response: Closing, connection: Connection, task: () => void): void {
  const tasks = tasksOf.get(connection) ?? watch(connection)
  const once = (): void => {
    if (tasks.delete(once)) task()
  }
  tasks.add(once)
  response.once('close', once)
}

function watch(connection: Connection): Set<() => void> {
  const tasks = new Set<() => void>()
  tasksOf.set(connection, tasks)
  connection.once('close', () => {
    for (const task of tasks) task()
  })
  return tasks
}
