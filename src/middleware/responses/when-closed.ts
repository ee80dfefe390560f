// Detects the end of a Node response. When a client pipelines requests, a waiting response gets no event from Node on
// disconnect; the connection's `close` event is used instead.

/** The part of a socket that is used. */
interface Connection {
  readonly destroyed?: boolean
  once(event: 'close', listener: () => void): unknown
}

/** The part of a Node response that is used; over HTTP/2 its stream reports the end. */
export interface Closing {
  readonly destroyed?: boolean
  readonly stream?: { readonly destroyed: boolean } | null
  /** Null while it is not the response's turn on its connection. */
  readonly socket?: unknown
  readonly req?: { readonly socket?: Connection | null }
  once(event: 'close' | 'finish', listener: () => void): unknown
}

/** Runs the task once the response was sent or its client has disconnected; at once if that has happened already. */
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

/** The connection on which the response waits for its turn; null when it is its turn. */
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
