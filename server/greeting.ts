import type { Engine } from './engine/engine.ts'

const HEADERS =
  "-H 'Client-ID: 3381af92-2b9e-11e3-b191-71861300734c' -H 'X-Project-ID: demo' -H 'Content-Type: application/json'"

/** What a new user sees: where the service listens, its engine, and three calls to try. */
export function greeting(url: string, { description, durability, warnings }: Engine): string {
  const queue = `${url}/v2/queues/hello`
  return [
    `Perilune listens on ${url}`,
    `Engine: ${description}`,
    `Durability: ${durability}`,
    ...warnings.map((warning) => `WARNING: ${warning}`),
    '',
    'In another terminal, post a message, read it, claim it (Ctrl-C here ends the service):',
    `  curl -i -X POST '${queue}/messages' ${HEADERS} -d '{"messages":[{"body":{"text":"hello"},"ttl":300}]}'`,
    `  curl -i '${queue}/messages?echo=true' ${HEADERS}`,
    `  curl -i -X POST '${queue}/claims' ${HEADERS} -d '{"ttl":60,"grace":60}'`,
    '',
  ].join('\n')
}
