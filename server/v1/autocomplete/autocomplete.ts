import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Autocomplete, jsonText } from 'perilune'
import { namedIn, type Routes } from '../api/routes.ts'
import { type Answers, Count, json, Name, nothing, object, orNull } from '../api/answers.ts'
import { duration, strict } from '../api/arguments.ts'
import { cleared } from '../coordination/answers.ts'
import { newEntries, suggestionsText } from './entries.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

const url = '/autocomplete/:name'
const path = { id: Type.String({ minLength: 1, description: 'The id of an entry; by default its text.' }) }
const Entry = Type.Object(
  {
    text: Type.String({ description: 'The text to suggest; up to 512 bytes.' }),
    id: Type.Optional(Type.String({ description: 'The id of the entry; default: its text.' })),
    score: Type.Optional(
      Type.Integer({ description: 'Entries with a greater score come first; default 0.' }),
    ),
    payload: Type.Optional(Type.Unknown({ description: 'Any JSON; stored unchanged.' })),
    ttl: duration('When it expires; default: never.'),
  },
  strict,
)
const Entries = Type.Object({ entries: Type.Array(Entry, { minItems: 1, maxItems: 1000 }) }, strict)
const Question = Type.Object(
  {
    query: Type.Optional(
      Type.String({ description: 'The typed text; default: empty, which all entries match.' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, description: 'The maximum number; default 10.' }),
    ),
    fuzzy: Type.Optional(Type.Boolean({ description: 'Whether matches with one edit follow.' })),
  },
  strict,
)
const SuggestionSchema = object({
  id: Type.String(),
  text: Type.String({ description: 'As it was added.' }),
  score: Type.Integer(),
  edited: Type.Boolean({ description: 'Whether it only matches with one edit.' }),
  payload: Type.Unknown({ description: 'Any JSON, unchanged; null if there is none.' }),
})
const added: Answers = {
  200: json('How many were new, and how many replaced another.', object({ added: Count, replaced: Count })),
}
const suggested: Answers = {
  200: json('The greatest score first.', object({ suggestions: Type.Array(SuggestionSchema) })),
}
const removed: Answers = { 204: nothing('Removed.') }
const picture: Answers = {
  200: json(
    'The index at one instant.',
    object({
      name: Name,
      entries: Count,
      words: Count,
      hot: Count,
      expiring: Count,
      expired: Count,
      codec: orNull(Type.String()),
    }),
  ),
}

type Open = (request: FastifyRequest) => Autocomplete<string>

export function v1Autocomplete(usual: Routes): void {
  const routes = usual.with({ path })
  const open: Open = (request) =>
    routes.perilune.autocomplete(namedIn(request), {
      codec: jsonText,
    })
  addEntries(routes, open)
  removeEntries(routes, open)
  suggestEntries(routes, open)
  wholeIndexes(routes, open)
}

function addEntries(routes: Routes, open: Open): void {
  routes.post(
    `${url}/entries`,
    'Add',
    {
      description: 'An entry replaces the one with its id. The same request may be repeated.',
      body: Entries,
      answers: added,
      large: true,
      documents: ['payload'],
    },
    async (request) => open(request).addMany(newEntries(request.body.entries, request.jsonText)),
  )
}

function removeEntries(routes: Routes, open: Open): void {
  routes.delete(`${url}/entries/:id`, 'Remove', { answers: removed, or: [404] }, async (request) => {
    const { id } = request.params
    if (!(await open(request).remove(id))) throw new RefusedRequest('not-found', `There is no entry ${id}.`)
  })
}

function suggestEntries(routes: Routes, open: Open): void {
  routes.get(
    `${url}/suggestions`,
    'Suggest',
    { query: Question, answers: suggested },
    async (request, reply) => {
      const { query = '', limit = 10, fuzzy = false } = request.query
      const found = await open(request).suggest(query, { limit, fuzzy })
      return reply.type('application/json').send(suggestionsText(found))
    },
  )
}

function wholeIndexes(routes: Routes, open: Open): void {
  routes.get(url, 'Inspect', { answers: picture }, async (request) => ({
    name: request.params.name,
    ...(await open(request).inspect()),
  }))

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await open(request).clear()
  })
}
