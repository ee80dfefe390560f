import { ConnectionLostError, ServerReplyError } from '../../driver.ts'

/** How long the others are waited for once one node has answered. */
const PATIENCE_MS = 500

/** Error codes of a server that temporarily answers no questions. */
const PASSING = new Set(['LOADING', 'BUSY', 'MASTERDOWN', 'CLUSTERDOWN', 'READONLY'])

/**
 * The answers of cluster nodes, without nodes that are silent or unreachable while others answer: one failed node must
 * not block access to the rest. Rejects when no node answers or none is known, and when a node rejects permanently.
 * Keeps no process alive.
 */
export function thoseThatAnswer<Answer>(asked: readonly Promise<Answer>[]): Promise<Answer[]> {
  if (asked.length === 0) return Promise.reject(new ConnectionLostError('no node is known', false))
  return new Promise((resolve, reject) => {
    const answers: Answer[] = []
    let left = asked.length
    let timer: NodeJS.Timeout | undefined
    const end = (error: unknown): void => {
      clearTimeout(timer)
      if (answers.length > 0) resolve(answers)
      else reject(error)
    }
    const over = (error?: unknown): void => {
      left -= 1
      if (left === 0) end(error)
    }
    for (const each of asked) {
      each.then(
        (answer) => {
          answers.push(answer)
          if (timer === undefined) timer = setTimeout(end, PATIENCE_MS).unref()
          over()
          return answer
        },
        (error: unknown) => {
          if (error instanceof ServerReplyError && !PASSING.has(error.word)) reject(error)
          over(error)
        },
      )
    }
  })
}
