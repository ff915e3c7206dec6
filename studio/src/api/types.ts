/* Made by studio/generate_types.py from the keeper's OpenAPI; `make studio-types` makes it anew. Not to be edited. */
/* eslint-disable */

export interface Acknowledged {
  ack: number;
}

export interface ActionAsked {
  action: "tag" | "cancel" | "archive" | "unarchive" | "delete" | "restore" | "resubmit";
  run_ids: string[];
  tags?: Record<string, unknown>;
  remove_tags?: string[];
}

export interface ActionError {
  code: string;
  message: string;
}

export interface ActionResult {
  run_id: string;
  ok: boolean;
  status: string | null;
  new_run_id: string | null;
  error: ActionError | null;
}

export interface ActionResultListing {
  results: ActionResult[];
}

export interface AgentHello {
  journals: Record<string, number>;
  logs: Record<string, number>;
  cancel: boolean;
}

export interface AgentIs {
  protocol?: number | null;
  pid?: number | null;
  start_ticks?: number | null;
  hostname?: string | null;
  version?: string | null;
  mode?: string | null;
  machine?: string | null;
}

export interface AgentsAddress {
  urls: string[];
}

export interface AliasGiven {
  version?: number | null;
}

export interface Aliases {
  aliases: Record<string, number>;
}

export interface Anything {
  [key: string]: unknown;
}

export interface Artifact {
  name: string;
  size: number;
  sha256: string;
  modified_utc: string;
}

export interface ArtifactLink {
  name: string;
  sha256: string;
}

export interface ArtifactLinks {
  artifacts: ArtifactLink[];
}

export interface ArtifactListing {
  artifacts: Artifact[];
}

export interface Attempt {
  attempt: number;
  started_utc: string | null;
  ended_utc: string | null;
  result: string | null;
  cause: Cause | null;
  nodes: AttemptNode[];
}

export interface AttemptNode {
  id: unknown;
  machine: unknown;
  result: string | null;
  ranks: RankEnd[];
}

export interface AuditEntry {
  seq: number;
  time_utc: string;
  who: string;
  action: string;
  path: string;
  status: number;
  address: string;
  request_id: string;
}

export interface AuditEntryPage {
  entries: AuditEntry[];
  cursor: number | null;
}

export interface Beat {
  cancel: boolean;
}

export interface Beaten {
  samples?: Record<string, unknown>[] | null;
  state?: string | null;
  still_s?: number | null;
}

export interface Block {
  run?: string | null;
  name: string;
  n: number;
  dtype: "d" | "q" | "j";
  values: string | unknown[];
  steps?: string | null;
  times: string;
}

export interface BriefRun {
  id: string;
  number: number;
  experiment: string;
  display_name: string;
  kind: string;
  status: string;
  reason: string;
  attempt: number;
  compute: string;
  node_count: number;
  processes_per_node: number;
  created_utc: string;
  started_utc: string | null;
  ended_utc: string | null;
  duration_s: number | null;
  submitted_by: string;
  parent_id: string | null;
  num_children: number;
  stale: boolean;
  cause: CauseInBrief | null;
}

export interface BriefRunListing {
  runs: BriefRun[];
}

export interface Build {
  id: string;
  key: string;
  status: string;
  error: string;
  built: Prepared | null;
  created_utc: string;
  ended_utc: string | null;
  created_by: string;
  log_size: number;
}

export interface Built {
  key: string;
  name: string;
  python_version: string;
  num_packages: number;
  built_utc: string;
  last_used_utc: string;
  build_s: number;
  own_bytes: number | null;
  shared_bytes: number | null;
  in_use_by: string[];
  deviations: string[];
  path: string;
}

export interface BuiltInFull {
  key: string;
  name: string;
  python_version: string;
  num_packages: number;
  built_utc: string;
  last_used_utc: string;
  build_s: number;
  own_bytes: number | null;
  shared_bytes: number | null;
  in_use_by: string[];
  deviations: string[];
  path: string;
  python_requested: string;
  platform: string;
  asked: unknown[];
  notes: string[];
  lock: string;
  conda: unknown[];
  log: string;
}

export interface BuiltListing {
  environments: Built[];
}

export interface Cause {
  kind: string;
  summary: string;
  attempt?: number;
  node?: number | null;
  rank?: number | null;
  exit_code?: number | null;
  signal?: string | null;
  exception?: string | null;
  traceback?: string | null;
  last_lines?: string[];
  log?: string | null;
  advice?: string[];
  fault?: string;
  time?: number | null;
  collateral?: boolean;
}

export interface CauseInBrief {
  kind: string | null;
  summary: string | null;
  rank: number | null;
  node: number | null;
  fault: string | null;
}

export interface Check {
  check: string;
  ok: boolean;
  words: string;
  advice: string;
}

export interface CheckListing {
  checks: Check[];
}

export interface Checkpoint {
  path: string;
  size: number;
  mode: number;
}

export interface CheckpointListing {
  files: Checkpoint[];
}

export interface Children {
  total: number;
  by_status: Record<string, number>;
}

export interface Code {
  python: string;
}

export interface ColumnChoice {
  metrics?: string[] | null;
  params?: string[] | null;
  tags?: string[] | null;
}

export interface Command {
  n: number;
  command: string;
  grace_s: number;
}

export interface CommandListing {
  commands: Command[];
}

export interface CompareAsked {
  runs: string[];
}

export interface ComparedRow {
  name: string;
  values: unknown[];
  differs: boolean;
}

export interface Comparison {
  runs: BriefRun[];
  params: ComparedRow[];
  metrics: ComparedRow[];
  tags: ComparedRow[];
  attributes: ComparedRow[];
  more: Record<string, boolean>;
}

export interface Compute {
  name: string;
  kind: string;
  spec: Record<string, unknown>;
  provisioning_state: string;
  allocation_state: string;
  created_utc: string;
  modified_utc: string;
  current_nodes: number;
  target_nodes: number;
  max_nodes: number;
  problem: string;
  node_states: Record<string, number>;
  warnings: string[];
  queued_runs: number;
  running_runs: number;
}

export interface ComputeChange {
  min_nodes?: number | null;
  max_nodes?: number | null;
  idle_seconds_before_scaledown?: number | null;
  tags?: Record<string, unknown> | null;
  description?: string | null;
}

export interface ComputeInBrief {
  name: string;
  kind: string;
  problem: string;
  allocation_state: string;
  current_nodes: number;
  max_nodes: number;
  busy_nodes: number;
  idle_nodes: number;
  queued_runs: number;
  running_runs: number;
}

export interface ComputeListing {
  compute: Compute[];
}

export interface ComputeNew {
  name: string;
  spec?: Record<string, unknown>;
  check?: boolean;
}

export interface ComputePreempt {
  node?: string | null;
  grace_s?: number | null;
  away_s?: number | null;
  force?: boolean;
}

export interface Content {
  sha256: string;
  size: number;
}

export interface DataFolder {
  folder: string;
  total: number;
  pictures: number;
  entries: FolderEntry[];
}

export interface DataInput {
  name: string;
  definition_id: string;
  mode?: string;
  path_on_compute?: string;
  data_name?: string;
  data_version?: number | null;
  is_reference?: boolean;
}

export interface DataOutput {
  name: string;
  mode?: string;
  datastore?: string;
  path?: string;
  source?: string;
  globs?: string[];
  overwrite?: boolean;
  register_as?: string;
  description?: string;
  tags?: Record<string, string>;
  definition?: Record<string, unknown>;
  is_reference?: boolean;
}

export interface DataPreview {
  columns: string[];
  rows: unknown[][];
  is_whole: boolean;
}

export interface Dataset {
  name: string;
  version: number;
  id: string;
  kind: string;
  definition: Record<string, unknown>;
  description: string;
  tags: Record<string, unknown>;
  files: number;
  bytes: number;
  fingerprint: string;
  manifest_id: string | null;
  created_utc: string;
  created_by: string;
  run_id: string | null;
  output: string;
  latest_version: number;
  used_by_runs: number;
}

export interface DatasetChange {
  description?: string | null;
  tags?: Record<string, unknown> | null;
  remove_tags?: string[];
  replace_tags?: boolean;
}

export interface DatasetListing {
  datasets: Dataset[];
}

export interface DatasetNew {
  name: string;
  definition?: Record<string, unknown> | null;
  definition_id?: string | null;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  create_new_version?: boolean;
  run_id?: string | null;
}

export interface Datastore {
  name: string;
  kind: string;
  type: string;
  spec: Record<string, unknown>;
  facts: Record<string, unknown>;
  has_credentials: boolean;
  is_default: boolean;
  created_utc: string | null;
  created_by: string;
}

export interface DatastoreListing {
  datastores: Datastore[];
}

export interface DatastoreNew {
  name: string;
  kind: string;
  spec: Record<string, unknown>;
  credentials?: Record<string, unknown> | null;
  overwrite?: boolean;
  check?: boolean;
}

export interface Definition {
  id: string;
  definition: Record<string, unknown>;
}

export interface Delivery {
  id: number;
  webhook_id: string;
  event: string;
  payload: Record<string, unknown>;
  state: string;
  tries: number;
  next_utc: string;
  answer: number | null;
  error: string;
  created_utc: string;
  ended_utc: string | null;
}

export interface DeliveryCounts {
  waiting: number;
  delivered: number;
  failed: number;
}

export interface DeliveryListing {
  deliveries: Delivery[];
}

export interface DiffFile {
  path: string;
  change: string;
  old_size: number | null;
  new_size: number | null;
  diff: string | null;
  why: string | null;
  cut: boolean;
}

export interface DiffSide {
  run: string;
  snapshot: string;
}

export interface Difference {
  what: string;
  then: unknown;
  now: unknown;
  matters: boolean;
}

export interface Disk {
  content_bytes: number;
  log_bytes: number;
  database_bytes: number;
  free_bytes: number;
  total_bytes: number;
}

export interface Draft {
  id: string;
  name: string;
  graph: Record<string, unknown> | null;
  num_nodes: number;
  revision: number;
  facts: Record<string, unknown>;
  created: string;
  changed: string;
  last_run_id: string | null;
  who: string;
}

export interface DraftListing {
  drafts: Draft[];
}

export interface DraftNew {
  graph: Record<string, unknown>;
  name?: string | null;
  facts?: Record<string, unknown> | null;
}

export interface DraftSaved {
  graph?: Record<string, unknown> | null;
  revision?: number | null;
  name?: string | null;
  facts?: Record<string, unknown> | null;
}

export interface Empty {
  [key: string]: unknown;
}

export interface EndedRank {
  rank: number;
  exit_code?: number | null;
  signal?: number | null;
}

export interface Endpoint {
  name: string;
  kind: string;
  state: string;
  error: EndpointError | null;
  operation: EndpointOperation;
  description: string;
  tags: Record<string, string>;
  properties: Record<string, unknown>;
  created_utc: string;
  updated_utc: string;
  created_by: string;
  auth_enabled: boolean;
  token_auth_enabled: boolean;
  port: number;
  scoring_uri: string;
  swagger_uri: string;
  keeper_path: string;
  versions: EndpointVersion[];
  requests: number;
  errors: number;
}

export interface EndpointChange {
  models?: ModelRef[];
  inference?: Record<string, unknown> | null;
  config?: Record<string, unknown>;
  auth_enabled?: boolean | null;
  token_auth_enabled?: boolean | null;
  port?: number | null;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  remove_tags?: string[];
  properties?: Record<string, unknown> | null;
}

export interface EndpointEnvironment {
  name: string;
  python: string;
  deviations: string[];
}

export interface EndpointError {
  code: string;
  summary: string;
  last_lines: string[];
}

export interface EndpointKeys {
  primary: string;
  secondary: string;
}

export interface EndpointLatency {
  to: number;
  step_s: number;
  series: LatencySeries[];
  total: LatencyTotal;
}

export interface EndpointListing {
  endpoints: Endpoint[];
}

export interface EndpointModel {
  name: string;
  version: number;
}

export interface EndpointNew {
  name: string;
  kind?: string;
  models?: ModelRef[];
  inference?: Record<string, unknown> | null;
  config?: Record<string, unknown>;
  auth_enabled?: boolean | null;
  token_auth_enabled?: boolean | null;
  port?: number | null;
  primary_key?: string | null;
  secondary_key?: string | null;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  properties?: Record<string, unknown> | null;
  version_name?: string | null;
  traffic?: number | null;
  overwrite?: boolean;
}

export interface EndpointOperation {
  kind: string;
  state: string;
  error: EndpointError | null;
  version: string;
  words: string;
  started_utc: string;
  ended_utc: string | null;
}

export interface EndpointReplica {
  pid: number;
  state: string;
  revision: number;
  since_utc: string;
  restarts: number;
}

export interface EndpointScaling {
  min_replicas: number;
  max_replicas: number;
  wanted: number;
  utilization: number;
}

export interface EndpointToken {
  access_token: string;
  token_type: string;
  refresh_after: number;
  expiry_on: number;
}

export interface EndpointVersion {
  name: string;
  revision: number;
  traffic: number;
  is_default: boolean;
  state: string;
  error: EndpointError | null;
  models: EndpointModel[];
  inference: Record<string, unknown> | null;
  no_code: string | null;
  config: Record<string, unknown>;
  environment: EndpointEnvironment | null;
  replicas: EndpointReplica[];
  scaling: EndpointScaling | null;
  created_utc: string;
  updated_utc: string;
  description: string;
  tags: Record<string, string>;
  properties: Record<string, unknown>;
}

export interface EntryCode {
  code: string;
  path: string;
  expires_s: number;
}

export interface Environment {
  name: string;
  version: string;
  definition: Record<string, unknown>;
  labels: string[];
  created_utc: string | null;
  created_by: string | null;
  curated: boolean;
  maps_to: unknown;
}

export interface EnvironmentLabels {
  version: number | string;
  labels: string[];
}

export interface EnvironmentListing {
  environments: Environment[];
}

export interface EnvironmentPrune {
  keys?: string[] | null;
  older_than_s?: number;
  dry_run?: boolean;
  cache?: boolean;
}

export interface EnvironmentSpec {
  name?: string;
  version?: string | null;
  user_managed?: boolean;
  python?: string;
  conda?: Record<string, unknown> | null;
  docker?: Record<string, unknown> | null;
  variables?: Record<string, string>;
}

export interface EnvironmentText {
  file: string;
  text: string;
  folder?: string;
}

export interface ErrorAnswer {
  error: ErrorBody;
}

export interface ErrorBody {
  code: string;
  message: string;
  details: Record<string, unknown>;
}

export interface Experiment {
  id: string;
  name: string;
  created_utc: string;
  archived_utc: string | null;
  tags: Record<string, string | null>;
  run_count: number;
}

export interface ExperimentChange {
  tags?: Record<string, unknown>;
  remove_tags?: string[];
  archived?: boolean | null;
  name?: string | null;
}

export interface ExperimentCounted {
  id: string;
  name: string;
  created_utc: string;
  archived_utc: string | null;
  tags: Record<string, string | null>;
  run_count: number;
  shown_count: number;
  child_count: number;
}

export interface ExperimentCountedListing {
  experiments: ExperimentCounted[];
}

export interface Files {
  files: number;
}

export interface FilesInBrief {
  files: number;
  bytes: number;
}

export interface FolderEntry {
  name: string;
  path: string;
  is_folder: boolean;
  bytes: number;
  files?: number | null;
  index?: number | null;
  is_picture?: boolean | null;
}

export interface Gpu {
  index: number;
  util_percent: number | null;
  memory_bytes: number | null;
}

export interface GpuLines {
  index: number;
  util_percent: (number | null)[];
  memory_bytes: (number | null)[];
}

export interface Graph {
  graph: Record<string, unknown>;
}

export interface GraphGiven {
  graph: Record<string, unknown>;
  parameters?: Record<string, unknown> | null;
}

export interface GraphRead {
  graph: Record<string, unknown>;
  problems: Problem[];
}

export interface HTTPValidationError {
  detail?: ValidationError[];
}

export interface Hashes {
  sha256: string[];
}

export interface Hello {
  service: string;
  version: string;
  protocol: number;
  pid: number;
  hostname: string;
  time: number;
  workspace: WorkspaceName;
}

export interface Home {
  time: number;
  counts: Record<string, number>;
  running: BriefRun[];
  waiting: BriefRun[];
  failed: BriefRun[];
  ended: BriefRun[];
  more: HomeMore;
  compute: ComputeInBrief[];
  disk: Disk;
}

export interface HomeMore {
  running: boolean;
  waiting: boolean;
}

export interface InferenceAsked {
  run_id: string;
  kind?: "real-time" | "batch";
}

export interface InferenceDeployed {
  name: string;
  graph?: Record<string, unknown> | null;
  run_id?: string | null;
  kind?: string;
  config?: Record<string, unknown>;
  auth_enabled?: boolean | null;
  token_auth_enabled?: boolean | null;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  overwrite?: boolean;
}

export interface IsPrepared {
  built: Prepared | null;
}

export interface Items {
  name: string;
  kind: string;
  total: number;
  start: number;
  columns?: Record<string, unknown[]> | null;
  items?: unknown[] | null;
}

export interface JournalPart {
  journal: string;
  from: number;
  to: number;
  blocks?: Block[];
  records?: unknown[][];
}

export interface Keeper {
  pid: number;
  uptime_s: number;
  memory_bytes: number;
  live_runs: number;
  queued_runs: number;
  running_runs: number;
  open_streams: number;
  idle_s: number;
  socket: string | null;
  port: number | null;
  url: string | null;
  agents: AgentsAddress;
  version: string;
}

export interface Kept {
  key: string;
  name: string;
  reason: string;
}

export interface KeyNew {
  key: string;
  value?: string | null;
}

export interface KnownNames {
  metrics: NamedCount[];
  params: NamedCount[];
  tags: NamedCount[];
  experiments: NamedCount[];
  computes: NamedCount[];
  users: NamedCount[];
  statuses: NamedCount[];
  more: Record<string, boolean>;
}

export interface LatencySeries {
  version: string;
  times: number[];
  requests: number[];
  errors: number[];
  p50_ms: (number | null)[];
  p95_ms: (number | null)[];
  p99_ms: (number | null)[];
  run_ms: number[];
  queue_ms: number[];
  batch: number[];
}

export interface LatencyTotal {
  requests: number;
  errors: number;
  p50_ms: number | null;
  p95_ms: number | null;
  p99_ms: number | null;
}

export interface LatestVersion {
  version: number;
  stage: string | null;
  description: string;
  run_id: string | null;
  created_utc: string;
}

export interface Lineage {
  model: Model;
  run: BriefRun | null;
  experiment: string | null;
  snapshot_id: string | null;
  git: Record<string, unknown>;
  environment: string | null;
  data: rookery__server__answer_views__RunData[];
  siblings: ModelVersion[];
}

export interface Log {
  name: string;
  size: number;
}

export interface LogInBrief {
  name: string;
  size: number;
}

export interface LogIndex {
  name: string;
  size: number;
  lines: number;
  marks: LogMark[];
  marks_from: number;
  more: boolean;
}

export interface LogLines {
  start: number;
  lines: string[];
  total: number;
  size: number;
  offset: number;
  end: number;
  cut: number[];
}

export interface LogListing {
  logs: Log[];
}

export interface LogMark {
  line: number;
  offset: number;
  kind: string;
  text: string;
}

export interface LogMatch {
  line: number;
  offset: number;
  column: number;
  length: number;
  text: string;
  at: number;
}

export interface LogMatches {
  matches: LogMatch[];
  next: number | null;
  size: number;
}

export interface Login {
  name: string;
  password: string;
}

export interface LoginForToken {
  name: string;
  password: string;
  token_name?: string;
  days?: number | null;
}

export interface Manifest {
  id: string;
  fingerprint: string;
  files: number;
  bytes: number;
  is_single: boolean;
  hashed: boolean;
  stores: ManifestStore[];
  entries: unknown[][];
}

export interface ManifestHead {
  id: string;
  fingerprint: string;
  files: number;
  bytes: number;
  is_single: boolean;
  hashed: boolean;
  stores: ManifestStore[];
}

export interface ManifestStore {
  kind: string;
  name: string;
  folder: string | null;
}

export interface Me {
  kind: string;
  name: string;
  role: string | null;
  run_id: string | null;
}

export interface MeetingPlace {
  address: string;
  port: number;
}

export interface Metric {
  name: string;
  kind: string;
  values?: unknown[] | null;
  steps?: unknown[] | null;
  times?: number[] | null;
  rows?: number | null;
  columns?: Record<string, unknown[]> | null;
  items?: unknown[] | null;
}

export interface MetricInBrief {
  name: string;
  kind: string;
  total: number;
  last: unknown;
  last_step: number | null;
  last_time: number | null;
  by_rank: boolean;
}

export interface MetricListing {
  metrics: Metric[];
}

export interface Missing {
  missing: string[];
}

export interface Model {
  name: string;
  version: number;
  id: string;
  created_utc: string;
  created_by: string;
  description: string;
  tags: Record<string, string | null>;
  properties: Record<string, string | null>;
  framework: string | null;
  framework_version: string | null;
  run_id: string | null;
  experiment: string | null;
  snapshot_id: string | null;
  files: ModelFile[];
  is_folder: boolean;
  stage: string | null;
  aliases: string[];
}

export interface ModelChange {
  tags?: Record<string, unknown> | null;
  remove_tags?: string[];
  properties?: Record<string, unknown> | null;
  description?: string | null;
  framework?: string | null;
  framework_version?: string | null;
  datasets?: unknown;
  resource?: unknown;
  sample_input?: unknown;
  sample_output?: unknown;
  stage?: "None" | "Staging" | "Production" | "Archived" | null;
}

export interface ModelFile {
  path: string;
  sha256: string;
  size: number;
}

export interface ModelListing {
  models: Model[];
}

export interface ModelName {
  name: string;
  description: string;
  tags: Record<string, string | null>;
  aliases: Record<string, number>;
  created_utc: string;
  modified_utc: string;
  versions: number;
  latest: LatestVersion | null;
}

export interface ModelNameListing {
  models: ModelName[];
}

export interface ModelNew {
  name: string;
  run_id?: string | null;
  path?: string | null;
  entries?: Record<string, unknown>[] | null;
  is_folder?: boolean | null;
  tags?: Record<string, unknown> | null;
  properties?: Record<string, unknown> | null;
  description?: string | null;
  framework?: string | null;
  framework_version?: string | null;
  datasets?: unknown;
  resource?: unknown;
  sample_input?: unknown;
  sample_output?: unknown;
  experiment?: string | null;
}

export interface ModelProfile {
  name: string;
  state: string;
  error: EndpointError | null;
  models: EndpointModel[];
  description: string;
  cpu: number | null;
  memory_in_gb: number | null;
  total_queries: number;
  success_queries: number;
  success_rate: number;
  average_latency_ms: number | null;
  latency_p50_ms: number | null;
  latency_p90_ms: number | null;
  latency_p95_ms: number | null;
  latency_p99_ms: number | null;
  latency_p999_ms: number | null;
  queries_per_second: number | null;
  max_utilized_cpu: number | null;
  max_utilized_memory_gb: number | null;
  created_utc: string;
  ended_utc: string | null;
}

export interface ModelProfileListing {
  profiles: ModelProfile[];
}

export interface ModelRef {
  name: string;
  version?: number | null;
}

export interface ModelVersion {
  name: string;
  version: number;
}

export interface ModuleCard {
  name: string;
  title: string;
  category: string;
  help: string;
  distributed: boolean;
  inputs: ModulePort[];
  outputs: ModulePort[];
  parameters: ModuleParameter[];
  source: string;
  version: string;
}

export interface ModuleCardPage {
  modules: ModuleCard[];
  others: ModuleCard[];
}

export interface ModuleChange {
  version?: string | null;
  default_version?: string | null;
  status?: "Active" | "Deprecated" | "Disabled" | null;
  description?: string | null;
}

export interface ModuleName {
  description?: string;
}

export interface ModuleNew {
  card: Record<string, unknown>;
  snapshot_id: string;
  function?: string | null;
  version?: string | null;
  make_default?: boolean;
}

export interface ModuleParameter {
  name: string;
  label: string;
  kind: string;
  help: string;
  required: boolean;
  default: unknown;
  low: number | null;
  high: number | null;
  above: number | null;
  choices: string[];
  when: unknown[] | null;
}

export interface ModulePort {
  name: string;
  label: string;
  types: string[];
  optional: boolean;
  help: string;
}

export interface ModuleVersion {
  version: string;
  status: string;
  description: string;
  card: ModuleCard;
  created_utc: string | null;
  created_by: string;
}

export interface ModuleVersions {
  name: string;
  status: string;
  description: string;
  default_version: string | null;
  current: string | null;
  versions: ModuleVersion[];
}

export interface NamedCount {
  name: string;
  runs: number;
}

export interface NewBuild {
  spec: EnvironmentSpec;
  fresh?: boolean;
}

export interface NewDefinition {
  definition: Record<string, unknown>;
}

export interface NewEnvironment {
  definition: Record<string, unknown>;
  secret_values?: Record<string, string> | null;
}

export interface NewRun {
  run_id: string;
  experiment: string;
  kind?: string;
  parent_id?: string | null;
  display_name?: string;
  description?: string;
  snapshot_id?: string | null;
  script?: string | null;
  arguments?: string[];
  command?: string | null;
  compute?: string;
  node_count?: number;
  min_node_count?: number | null;
  processes_per_node?: number;
  launcher?: string;
  launcher_options?: Record<string, unknown>;
  environment?: EnvironmentSpec;
  variables?: Record<string, string>;
  secrets?: string[];
  max_duration_s?: number | null;
  cancel_grace_s?: number | null;
  collect_outputs?: boolean;
  watch_folders?: string[];
  watched?: WatchedProcess | null;
  target?: string;
  tags?: Record<string, string | null>;
  properties?: Record<string, string>;
  retries_lost_node?: number | null;
  retries_user_error?: number;
  inputs?: DataInput[];
  outputs?: DataOutput[];
  plan?: Record<string, unknown> | null;
  secret_values?: Record<string, string> | null;
}

export interface NewSnapshot {
  entries: rookery__server__body_models__SnapshotEntry[];
}

export interface Node {
  id: string;
  state: string;
  address?: string | null;
  run_id?: string | null;
  detail?: string | null;
}

export interface NodeLines {
  node: number;
  times: (number | null)[];
  cpu_percent: (number | null)[];
  memory_bytes: (number | null)[];
  gpus: GpuLines[];
}

export interface NodeListing {
  nodes: Node[];
}

export interface NodeOutcome {
  result: "completed" | "failed" | "canceled" | "lost";
  exit_code?: number | null;
  signal?: number | null;
  cause?: Cause | null;
  ranks?: EndedRank[];
  ended?: number | null;
}

export interface OnnxNode {
  name: string;
  op: string;
  inputs: string[];
  outputs: string[];
}

export interface OnnxOperator {
  op: string;
  count: number;
}

export interface OnnxOpset {
  domain: string;
  version: number | null;
}

export interface OnnxPort {
  name: string;
  type: string;
  shape: (number | string)[];
}

export interface OnnxSummary {
  ir_version: number | null;
  producer: string;
  producer_version: string;
  domain: string;
  description: string;
  opsets: OnnxOpset[];
  graph: string;
  inputs: OnnxPort[];
  outputs: OnnxPort[];
  num_nodes: number;
  operators: OnnxOperator[];
  nodes: OnnxNode[];
  num_initializers: number;
  num_parameters: number;
  weights_bytes: number;
  metadata: Record<string, string>;
  cut: boolean;
}

export interface Overview {
  run: Run;
  time: number;
  phases: PhaseBar[];
  children: Children;
  parent: BriefRun | null;
  metrics: MetricInBrief[];
  logs: LogInBrief[];
  artifacts: FilesInBrief;
  snapshot: SnapshotInBrief | null;
  git: Record<string, unknown>;
  data: rookery__server__answer_views__RunData[];
  models: ModelVersion[];
  environment: RunSoftware;
  deleted_utc: string | null;
  archived: boolean;
}

export interface PackStored {
  files: number;
  skipped: number;
  bytes: number;
}

export interface PackageNew {
  models?: ModelRef[];
  inference?: Record<string, unknown> | null;
}

export interface PasswordChange {
  old: string;
  new: string;
}

export interface PastBlock {
  name: string;
  at: number;
  n: number;
  dtype: string;
  values: unknown;
  steps?: string | null;
  times: string;
}

export interface PastExperiment {
  name: string;
  tags?: Record<string, unknown> | null;
  created_ms?: number | null;
  archived?: boolean | null;
}

export interface PastFile {
  path: string;
  sha256: string;
}

export interface PastInput {
  direction: string;
  kind: string;
  name: string;
  digest?: string | null;
  context?: string | null;
  data?: Record<string, unknown> | null;
}

export interface PastLoggedModel {
  id: string;
  experiment: string;
  status: string;
  run_id?: string | null;
  name?: string | null;
  model_type?: string | null;
  created_ms?: number | null;
  modified_ms?: number | null;
  deleted?: boolean | null;
  tags?: Record<string, unknown> | null;
  params?: Record<string, unknown> | null;
  metrics?: PastModelMetric[] | null;
  files?: PastFile[] | null;
}

export interface PastModel {
  name: string;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  created_ms?: number | null;
  modified_ms?: number | null;
  aliases?: Record<string, number> | null;
  versions?: PastVersion[] | null;
}

export interface PastModelMetric {
  key: string;
  value: number;
  step?: number | null;
  time_ms: number;
  run_id?: string | null;
  dataset_name?: string | null;
  dataset_digest?: string | null;
}

export interface PastRun {
  run_id: string;
  experiment: string;
  status: string;
  display_name?: string | null;
  description?: string | null;
  user?: string | null;
  began_ms?: number | null;
  ended_ms?: number | null;
  deleted?: boolean | null;
  deleted_ms?: number | null;
  parent_id?: string | null;
  tags?: Record<string, unknown> | null;
  params?: Record<string, unknown> | null;
  inputs?: PastInput[] | null;
}

export interface PastValues {
  blocks: PastBlock[];
}

export interface PastVersion {
  version: number;
  created_ms?: number | null;
  modified_ms?: number | null;
  description?: string | null;
  stage?: string | null;
  source?: string | null;
  source_link?: string | null;
  tags?: Record<string, unknown> | null;
  created_by?: string | null;
  run_id?: string | null;
  files_of_run?: string | null;
  path?: string | null;
  files_of_model?: string | null;
  framework?: string | null;
}

export interface Phase {
  status: string;
  since_utc: string;
  reason: string | null;
}

export interface PhaseBar {
  status: string;
  reason: string | null;
  start: number;
  end: number;
  duration_s: number;
}

export interface PipelineEndpoint {
  id: string;
  name: string;
  description: string;
  status: string;
  default_version: string;
  versions: PipelineEndpointVersion[];
  created_utc: string;
  created_by: string;
  endpoint: string;
}

export interface PipelineEndpointChange {
  add?: string | null;
  make_default?: boolean;
  default_version?: string | null;
  status?: "Active" | "Disabled" | "Archived" | null;
  name?: string | null;
}

export interface PipelineEndpointListing {
  endpoints: PipelineEndpoint[];
}

export interface PipelineEndpointNew {
  name: string;
  pipeline_id: string;
  description?: string;
}

export interface PipelineEndpointVersion {
  version: string;
  pipeline_id: string;
}

export interface PipelineRun {
  run_id: string;
  experiment: string;
  display_name: string;
  status: string;
  reason: string;
  error: Record<string, unknown> | null;
  graph: Record<string, unknown>;
  parameters: Record<string, unknown>;
  regenerate: boolean;
  continue_on_failure: boolean;
  draft_id: string | null;
  created: string;
  started: string | null;
  ended: string | null;
  steps: Record<string, PipelineStep>;
}

export interface PipelineRunNew {
  graph: Record<string, unknown>;
  experiment: string;
  run_id?: string | null;
  parent_id?: string | null;
  display_name?: string | null;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  properties?: Record<string, unknown> | null;
  parameters?: Record<string, unknown> | null;
  regenerate?: boolean;
  continue_on_failure?: boolean;
  draft_id?: string | null;
  pipeline_id?: string | null;
}

export interface PipelineSample {
  name: string;
  title: string;
  description: string;
  graph: Record<string, unknown>;
}

export interface PipelineSampleListing {
  samples: PipelineSample[];
}

export interface PipelineStep {
  name: string;
  run_id: string | null;
  status: string;
  phase: string;
  reason: string;
  reused_from: string | null;
  reuse: string;
  started: string | null;
  ended: string | null;
  cause: Record<string, unknown> | null;
  tries: number;
  key: string;
  outputs: Record<string, StepOutput>;
}

export interface PipelineSubmission {
  ExperimentName?: string | null;
  DisplayName?: string | null;
  Description?: string | null;
  RunSource?: string | null;
  ParentRunId?: string | null;
  ParameterAssignments?: Record<string, unknown> | null;
  DataPathAssignments?: Record<string, unknown> | null;
  DataSetDefinitionValueAssignments?: Record<string, unknown> | null;
  Tags?: Record<string, unknown> | null;
  Properties?: Record<string, unknown> | null;
  ContinueRunOnStepFailure?: boolean | null;
}

export interface Preempted {
  node: string;
  run_id: string | null;
  grace_s: number;
  away_s: number;
}

export interface Prepared {
  python: string;
  bin_dir: string | null;
  deviations: string[];
  key: string;
}

export interface Preview {
  name: string;
  size: number;
  kind: string;
  text?: string | null;
  cut?: boolean | null;
  valid?: boolean | null;
  columns?: PreviewColumn[] | null;
  rows?: unknown[][] | null;
  total_rows?: number | null;
  content_type?: string | null;
  width?: number | null;
  height?: number | null;
  model?: OnnxSummary | null;
  why?: string | null;
}

export interface PreviewColumn {
  name: string;
  type: string;
  why?: string | null;
}

export interface Problem {
  node: string | null;
  field: string | null;
  code: string;
  message: string;
}

export interface Problems {
  problems: Problem[];
}

export interface ProfileNew {
  name: string;
  models?: ModelRef[];
  inference?: Record<string, unknown> | null;
  inputs: string[];
  cpu?: number | null;
  memory_in_gb?: number | null;
  description?: string | null;
}

export interface Pruned {
  removed: Built[];
  kept: Kept[];
  freed_bytes: number;
  cache_bytes: number;
  dry_run: boolean;
}

export interface PublishedChange {
  status: "Active" | "Disabled";
}

export interface PublishedNew {
  name: string;
  graph?: Record<string, unknown> | null;
  run_id?: string | null;
  description?: string;
  version?: string;
  continue_on_failure?: boolean | null;
}

export interface PublishedPipeline {
  id: string;
  name: string;
  description: string;
  version: string;
  status: string;
  graph: Record<string, unknown>;
  continue_on_failure: boolean;
  created_utc: string;
  created_by: string;
  endpoint: string;
}

export interface PublishedPipelineListing {
  pipelines: PublishedPipeline[];
}

export interface Queue {
  running: BriefRun[];
  waiting: WaitingRun[];
  more: boolean;
}

export interface RankEnd {
  rank: number;
  exit_code: number | null;
  signal: number | null;
}

export interface Records {
  records: unknown[][];
}

export interface Rendezvous {
  address: string | null;
  port: number | null;
  cancel: boolean;
}

export interface ReproduceAsked {
  compute?: string | null;
  display_name?: string | null;
  arguments?: string[] | null;
  tags?: Record<string, unknown>;
}

export interface Reproducible {
  possible: boolean;
  why_not: string[];
  same: string[];
  differences: Difference[];
  spec: RunSpec | null;
}

export interface Run {
  id: string;
  number: number;
  experiment: string;
  kind: string;
  parent_id: string | null;
  root_id: string;
  display_name: string;
  description: string;
  status: string;
  reason: string | null;
  attempt: number;
  compute: string;
  target: string | null;
  created_utc: string;
  started_utc: string | null;
  ended_utc: string | null;
  submitted_by: string;
  tags: Record<string, string | null>;
  properties: Record<string, string | null>;
  params: Record<string, string | null>;
  heard_utc: string | null;
  stale: boolean;
  spec: RunSpec;
  error: Cause | null;
  warnings: string[];
  snapshot_id: string | null;
  phases: Phase[];
  attempts: Attempt[];
}

export interface RunChange {
  display_name?: string | null;
  description?: string | null;
  tags?: Record<string, unknown>;
  remove_tags?: string[];
  properties?: Record<string, unknown>;
}

export interface RunCondition {
  kind: "metric" | "param" | "tag" | "attribute";
  key: string;
  op?: string;
  value?: unknown;
}

export interface RunDataListing {
  data: rookery__server__answer_models_data__RunData[];
}

export interface RunInList {
  id: string;
  number: number;
  experiment: string;
  kind: string;
  parent_id: string | null;
  root_id: string;
  display_name: string;
  description: string;
  status: string;
  reason: string | null;
  attempt: number;
  compute: string;
  target: string | null;
  created_utc: string;
  started_utc: string | null;
  ended_utc: string | null;
  submitted_by: string;
  tags: Record<string, string | null>;
  properties: Record<string, string | null>;
  params: Record<string, string | null>;
  heard_utc: string | null;
  stale: boolean;
  spec: RunSpec;
  error: Cause | null;
  warnings: string[];
  snapshot_id: string | null;
  phases: Phase[];
}

export interface RunInListListing {
  runs: RunInList[];
}

export interface RunInListPage {
  runs: RunInList[];
  cursor: string | null;
}

export interface RunOfData {
  run_id: string;
  direction: string;
  name: string;
  mode: string;
  definition_id: string;
  data_name: string;
  data_version: number | null;
  manifest_id: string;
  fingerprint: string;
  files: number;
  bytes: number;
  is_single: boolean;
  status: string;
  display_name: string;
  created_utc: string;
  number: number;
  by_name: boolean;
}

export interface RunOfDataListing {
  runs: RunOfData[];
}

export interface RunSoftware {
  name: string;
  version: string | null;
  key: string | null;
  python: string | null;
  user_managed: boolean;
}

export interface RunSpec {
  run_id: string;
  experiment: string;
  kind?: string;
  parent_id?: string | null;
  display_name?: string;
  description?: string;
  snapshot_id?: string | null;
  script?: string | null;
  arguments?: string[];
  command?: string | null;
  compute?: string;
  node_count?: number;
  min_node_count?: number | null;
  processes_per_node?: number;
  launcher?: string;
  launcher_options?: Record<string, unknown>;
  environment?: EnvironmentSpec;
  variables?: Record<string, string>;
  secrets?: string[];
  max_duration_s?: number | null;
  cancel_grace_s?: number | null;
  collect_outputs?: boolean;
  watch_folders?: string[];
  watched?: WatchedProcess | null;
  target?: string;
  tags?: Record<string, string | null>;
  properties?: Record<string, string>;
  retries_lost_node?: number | null;
  retries_user_error?: number;
  inputs?: DataInput[];
  outputs?: DataOutput[];
  plan?: Record<string, unknown> | null;
}

export interface RunTablePage {
  runs: TableRun[];
  cursor: string | null;
  total: number | null;
}

export interface RunToken {
  token: string;
  expires_utc: string;
}

export interface Sample {
  time: number;
  node: number;
  cpu_percent: number | null;
  memory_bytes: number | null;
  gpus: Gpu[];
}

export interface SampleListing {
  samples: Sample[];
}

export interface Schedule {
  id: string;
  name: string;
  status: string;
  facts: Record<string, unknown>;
  state: Record<string, unknown>;
  next_utc: string | null;
  created_utc: string;
  created_by: string;
}

export interface ScheduleChange {
  name?: string | null;
  status?: "Active" | "Disabled" | null;
  description?: string | null;
  recurrence?: Record<string, unknown> | null;
  datastore?: string | null;
  path_on_datastore?: string | null;
  polling_interval?: number | null;
  data_path_parameter_name?: string | null;
  parameters?: Record<string, unknown> | null;
  continue_on_failure?: boolean | null;
}

export interface ScheduleListing {
  schedules: Schedule[];
}

export interface ScheduleNew {
  name: string;
  experiment: string;
  description?: string | null;
  pipeline_id?: string | null;
  endpoint_id?: string | null;
  recurrence?: Record<string, unknown> | null;
  datastore?: string | null;
  path_on_datastore?: string | null;
  polling_interval?: number | null;
  data_path_parameter_name?: string | null;
  parameters?: Record<string, unknown> | null;
  continue_on_failure?: boolean | null;
}

export interface SearchAsked {
  where?: RunCondition[];
  text?: string;
  experiments?: string[];
  statuses?: string[];
  computes?: string[];
  kinds?: string[];
  users?: string[];
  parent?: string | null;
  include_children?: boolean;
  archived?: "no" | "only" | "all";
  deleted?: boolean;
  sort?: Sorting[];
  columns?: ColumnChoice;
  sparklines?: Sparklines;
  limit?: number;
  cursor?: string | null;
  count?: boolean;
}

export interface SecretNames {
  names: string[];
}

export interface SecretValue {
  value: string;
}

export interface Series {
  run: string;
  name: string;
  kind: string;
  x: string;
  total: number;
  in_range: number;
  sampled: boolean;
  xs: number[];
  ys: (number | null)[];
  holes: number;
  low: number | null;
  high: number | null;
  rank?: number | null;
  ranks?: number | null;
}

export interface SeriesAsked {
  runs: string[];
  names: string[];
  points?: number;
  x?: "step" | "time" | "index";
  from?: number | null;
  to?: number | null;
}

export interface SeriesListing {
  series: Series[];
}

export interface Session {
  name: string;
  role: string;
  expires_utc: string;
}

export interface SessionToken {
  name: string;
  role: string;
  expires_utc: string;
  id: string;
  token: string;
}

export interface Size {
  size: number;
}

export interface Snapshot {
  id: string;
  entries: rookery__server__answer_models__SnapshotEntry[];
}

export interface SnapshotInBrief {
  files: number;
  bytes: number;
  id: string;
}

export interface SnapshotMade {
  id: string;
  files: number;
  bytes: number;
}

export interface Sorting {
  kind?: "metric" | "param" | "tag" | "attribute";
  key: string;
  ascending?: boolean;
}

export interface SourceDiff {
  old: DiffSide;
  new: DiffSide;
  files: DiffFile[];
  same: number;
  more: boolean;
}

export interface Sparkline {
  x: number[];
  y: (number | null)[];
}

export interface Sparklines {
  metrics?: string[];
  points?: number;
}

export interface Specification {
  conda: Record<string, unknown>;
  notes: string[];
}

export interface StartedRank {
  rank: number;
  pid?: number | null;
}

export interface StartedRanks {
  ranks?: StartedRank[];
}

export interface StatusReport {
  status: string;
  error?: unknown;
}

export interface StepOutput {
  definition_id: string;
  manifest_id: string;
  fingerprint: string;
  files: number;
  bytes: number;
  data_name: string;
  data_version: number | null;
  datastore: string | null;
  path: string | null;
  types: string[];
}

export interface StoreFile {
  path: string;
  size: number;
  etag: string;
}

export interface StoreFiles {
  files: StoreFile[];
  total: number;
}

export interface SubmittedV1 {
  Id: string;
  ExperimentName: string;
  PipelineId: string;
  Status: Record<string, unknown>;
  Description: string;
}

export interface TableRun {
  id: string;
  number: number;
  experiment: string;
  display_name: string;
  kind: string;
  status: string;
  reason: string;
  attempt: number;
  compute: string;
  node_count: number;
  processes_per_node: number;
  created_utc: string;
  started_utc: string | null;
  ended_utc: string | null;
  duration_s: number | null;
  submitted_by: string;
  parent_id: string | null;
  num_children: number;
  stale: boolean;
  cause: CauseInBrief | null;
  metrics: Record<string, number | string>;
  params: Record<string, string | null>;
  tags: Record<string, string | null>;
  series?: Record<string, Sparkline> | null;
}

export interface Timeline {
  time: number;
  phases: PhaseBar[];
  attempts: TimelineAttempt[];
  samples: NodeLines[];
}

export interface TimelineAttempt {
  attempt: number;
  start: number | null;
  end: number | null;
  result: string | null;
  cause: Cause | null;
  nodes: TimelineNode[];
}

export interface TimelineNode {
  node: number;
  id: unknown;
  machine: unknown;
  result: string | null;
  ranks: unknown[];
}

export interface TokenRequest {
  run_id: string;
}

export interface TrackingToken {
  token: string;
  expires_utc: string;
  port: number | null;
  tls: boolean;
}

export interface Tree {
  path: string;
  folders: TreeFolder[];
  files: TreeFile[];
  more: boolean;
}

export interface TreeFile {
  name: string;
  path: string;
  size: number;
  sha256: string | null;
  preview: string;
  modified_utc?: string | null;
  mode?: number | null;
  link?: string | null;
}

export interface TreeFolder {
  name: string;
  path: string;
  files: number;
  bytes: number;
}

export interface TuneTrial {
  number: number;
  run_id: string;
  parameters: Record<string, unknown>;
  status: string;
  reason: string;
  stopped: string;
  resumed_from: string;
  intervals: number;
  best: number | null;
  best_at: number | null;
  last: number | null;
  rank: number | null;
  duration_s: number | null;
}

export interface Tuning {
  run_id: string;
  status: string;
  reason: string;
  metric: string;
  goal: string;
  sampler: string;
  policy: string;
  policy_options: Record<string, unknown>;
  space: Record<string, unknown>;
  max_total_runs: number;
  max_concurrent_runs: number;
  max_duration_minutes: number;
  resume_from: string[];
  trials: TuneTrial[];
  best: string | null;
  importances: Record<string, number>;
}

export interface UploadState {
  stored: boolean;
  offset: number;
}

export interface User {
  name: string;
  role: string;
  has_password: boolean;
  created_utc: string;
  created_by: string;
  tokens: number;
}

export interface UserChange {
  role?: string | null;
  password?: string | null;
}

export interface UserListing {
  users: User[];
}

export interface UserNew {
  name: string;
  role?: string;
  password?: string | null;
}

export interface UserToken {
  id: string;
  user: string;
  name: string;
  created_utc: string;
  expires_utc: string;
  last_used_utc: string | null;
}

export interface UserTokenListing {
  tokens: UserToken[];
}

export interface UserTokenMade {
  id: string;
  user: string;
  name: string;
  created_utc: string;
  expires_utc: string;
  last_used_utc: string | null;
  token: string;
}

export interface UserTokenNew {
  name?: string;
  user?: string | null;
  days?: number | null;
}

export interface ValidationError {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
  ctx?: Record<string, unknown>;
}

export interface ValueCount {
  value: string | null;
  runs: number;
}

export interface ValueCountListing {
  values: ValueCount[];
}

export interface VersionPut {
  models?: ModelRef[];
  inference?: Record<string, unknown> | null;
  config?: Record<string, unknown>;
  traffic?: number | null;
  is_default?: boolean | null;
  description?: string | null;
  tags?: Record<string, unknown> | null;
  properties?: Record<string, unknown> | null;
}

export interface WaitingRun {
  id: string;
  number: number;
  experiment: string;
  display_name: string;
  kind: string;
  status: string;
  reason: string;
  attempt: number;
  compute: string;
  node_count: number;
  processes_per_node: number;
  created_utc: string;
  started_utc: string | null;
  ended_utc: string | null;
  duration_s: number | null;
  submitted_by: string;
  parent_id: string | null;
  num_children: number;
  stale: boolean;
  cause: CauseInBrief | null;
  place: number;
}

export interface WantedEnvironment {
  spec: EnvironmentSpec;
}

export interface Warned {
  warnings?: string[];
}

export interface WatchedProcess {
  pid: number;
  start_ticks: number;
  host: string;
  visits?: boolean;
}

export interface Webhook {
  id: string;
  url: string;
  events: string[];
  created_utc: string;
  created_by: string;
  deliveries: DeliveryCounts;
}

export interface WebhookListing {
  webhooks: Webhook[];
}

export interface WebhookMade {
  id: string;
  url: string;
  events: string[];
  created_utc: string;
  created_by: string;
  deliveries: DeliveryCounts;
  secret: string;
}

export interface WebhookNew {
  url: string;
  events: string[];
}

export interface Wheel {
  name: string;
  sha256: string;
  url: string;
}

export interface WheelNew {
  name: string;
  sha256: string;
  exist_ok?: boolean;
}

export interface Wish {
  dry_run?: boolean;
  older_than_h?: number;
}

export interface Workspace {
  id: string;
  name: string;
  subscription_id: string;
  resource_group: string;
  location: string;
  created_utc: string;
  tags: Record<string, string | null>;
  friendly_name: string;
  description: string;
  disk_bytes: number;
}

export interface WorkspaceChange {
  tags?: Record<string, unknown> | null;
  friendly_name?: string | null;
  description?: string | null;
}

export interface WorkspaceName {
  id: string;
  name: string;
}

export interface Yaml {
  yaml: string;
}

export interface YamlGiven {
  yaml: string;
}

export interface rookery__server__answer_models__SnapshotEntry {
  path: string;
  sha256: string | null;
  size: number;
  mode: number;
  link: string | null;
}

export interface rookery__server__answer_models_data__RunData {
  run_id: string;
  direction: string;
  name: string;
  mode: string;
  definition_id: string;
  data_name: string;
  data_version: number | null;
  manifest_id: string;
  fingerprint: string;
  files: number;
  bytes: number;
  is_single: boolean;
}

export interface rookery__server__answer_views__RunData {
  direction: string;
  kind: string;
  name: string;
  digest: string;
  context: string | null;
}

export interface rookery__server__body_models__SnapshotEntry {
  path: string;
  sha256: string;
  size: number;
  mode: number;
  link?: string | null;
}

export interface Operations {
  act_on_runs: { path: {}; query: {}; body: ActionAsked; answer: ActionResultListing };
  list_audit: { path: {}; query: { limit?: number; before?: number | null; who?: string | null }; body: undefined; answer: AuditEntryPage };
  list_built_environments: { path: {}; query: { measure?: boolean }; body: undefined; answer: BuiltListing };
  prune_built_environments: { path: {}; query: {}; body: EnvironmentPrune; answer: Pruned };
  get_built_environment: { path: { key: string }; query: {}; body: undefined; answer: BuiltInFull };
  compare_runs: { path: {}; query: {}; body: CompareAsked; answer: Comparison };
  list_compute: { path: {}; query: {}; body: undefined; answer: ComputeListing };
  create_compute: { path: {}; query: {}; body: ComputeNew; answer: Compute };
  delete_compute: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  get_compute: { path: { name: string }; query: {}; body: undefined; answer: Compute };
  change_compute: { path: { name: string }; query: {}; body: ComputeChange; answer: Compute };
  check_compute: { path: { name: string }; query: {}; body: undefined; answer: CheckListing };
  list_nodes: { path: { name: string }; query: {}; body: undefined; answer: NodeListing };
  preempt_node: { path: { name: string }; query: {}; body: ComputePreempt; answer: Preempted };
  get_queue: { path: { name: string }; query: {}; body: undefined; answer: Queue };
  find_missing_content: { path: {}; query: {}; body: Hashes; answer: Missing };
  put_content_pack: { path: {}; query: {}; body: Blob; answer: Files };
  get_content: { path: { sha256: string }; query: {}; body: undefined; answer: Response };
  continue_upload: { path: { sha256: string }; query: {}; body: Blob; answer: Anything };
  put_content: { path: { sha256: string }; query: {}; body: Blob; answer: Content };
  get_upload: { path: { sha256: string }; query: {}; body: undefined; answer: UploadState };
  save_definition: { path: {}; query: {}; body: NewDefinition; answer: Definition };
  get_definition: { path: { definition_id: string }; query: {}; body: undefined; answer: Definition };
  resolve_definition: { path: { definition_id: string }; query: {}; body: undefined; answer: ManifestHead };
  get_manifest: { path: { manifest_id: string }; query: { first?: number; count?: number }; body: undefined; answer: Manifest };
  get_manifest_bytes: { path: { manifest_id: string }; query: { first?: number; count?: number }; body: undefined; answer: Response };
  get_manifest_file: { path: { manifest_id: string; index: number }; query: {}; body: undefined; answer: Response };
  list_manifest_folder: { path: { manifest_id: string }; query: { path?: string; first?: number; limit?: number }; body: undefined; answer: DataFolder };
  get_manifest_picture: { path: { manifest_id: string; path: string }; query: {}; body: undefined; answer: Response };
  preview_manifest_file: { path: { manifest_id: string; path: string }; query: { rows?: number }; body: undefined; answer: Preview };
  list_datasets: { path: {}; query: { tag?: string[] }; body: undefined; answer: DatasetListing };
  register_dataset: { path: {}; query: {}; body: DatasetNew; answer: Dataset };
  delete_dataset: { path: { name: string }; query: { version?: number | null }; body: undefined; answer: Empty };
  get_dataset: { path: { name: string }; query: { version?: number | null }; body: undefined; answer: Dataset };
  upload_dataset: { path: { name: string }; query: { format?: "zip" | "pack"; datastore?: string; description?: string }; body: Blob; answer: Dataset };
  list_dataset_versions: { path: { name: string }; query: {}; body: undefined; answer: DatasetListing };
  change_dataset: { path: { name: string; version: number }; query: {}; body: DatasetChange; answer: Dataset };
  get_dataset_file: { path: { name: string; version: number; path: string }; query: { inline?: boolean }; body: undefined; answer: Response };
  list_dataset_folder: { path: { name: string; version: number }; query: { path?: string; first?: number; limit?: number }; body: undefined; answer: DataFolder };
  list_dataset_runs: { path: { name: string; version: number }; query: {}; body: undefined; answer: RunOfDataListing };
  preview_dataset_table: { path: { name: string; version: number }; query: { rows?: number }; body: undefined; answer: DataPreview };
  list_datastores: { path: {}; query: {}; body: undefined; answer: DatastoreListing };
  register_datastore: { path: {}; query: {}; body: DatastoreNew; answer: Datastore };
  delete_datastore: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  get_datastore: { path: { name: string }; query: {}; body: undefined; answer: Datastore };
  set_default_datastore: { path: { name: string }; query: {}; body: undefined; answer: Datastore };
  list_store_files: { path: { name: string }; query: { path?: string; first?: number; limit?: number }; body: undefined; answer: StoreFiles };
  get_store_file: { path: { name: string; path: string }; query: {}; body: undefined; answer: Response };
  put_store_pack: { path: { name: string }; query: { path?: string; overwrite?: boolean }; body: Blob; answer: PackStored };
  list_endpoints: { path: {}; query: { kind?: string | null; model?: string | null; model_version?: number | null; tag?: string[] }; body: undefined; answer: EndpointListing };
  create_endpoint: { path: {}; query: {}; body: EndpointNew; answer: Endpoint };
  delete_endpoint: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  get_endpoint: { path: { name: string }; query: {}; body: undefined; answer: Endpoint };
  change_endpoint: { path: { name: string }; query: {}; body: EndpointChange; answer: Endpoint };
  get_endpoint_keys: { path: { name: string }; query: {}; body: undefined; answer: EndpointKeys };
  make_endpoint_key: { path: { name: string }; query: {}; body: KeyNew; answer: EndpointKeys };
  get_endpoint_latency: { path: { name: string }; query: { seconds?: number; points?: number }; body: undefined; answer: EndpointLatency };
  read_endpoint_log: { path: { name: string }; query: { version?: string | null; offset?: number; length?: number }; body: undefined; answer: Response };
  read_endpoint_logs: { path: { name: string }; query: { version?: string | null; lines?: number }; body: undefined; answer: Response };
  reload_endpoint: { path: { name: string }; query: {}; body: undefined; answer: Endpoint };
  make_endpoint_token: { path: { name: string }; query: {}; body: undefined; answer: EndpointToken };
  delete_endpoint_version: { path: { name: string; version: string }; query: {}; body: undefined; answer: Endpoint };
  put_endpoint_version: { path: { name: string; version: string }; query: {}; body: VersionPut; answer: Endpoint };
  list_environments: { path: {}; query: { name?: string | null }; body: undefined; answer: EnvironmentListing };
  register_environment: { path: {}; query: {}; body: NewEnvironment; answer: Environment };
  start_build: { path: {}; query: {}; body: NewBuild; answer: Build };
  get_build: { path: { build_id: string }; query: {}; body: undefined; answer: Build };
  follow_build: { path: { build_id: string }; query: { after?: number | null }; body: undefined; answer: Response };
  read_build_log: { path: { build_id: string }; query: { offset?: number }; body: undefined; answer: Response };
  find_prepared: { path: {}; query: {}; body: WantedEnvironment; answer: IsPrepared };
  read_specification: { path: {}; query: {}; body: EnvironmentText; answer: Specification };
  get_environment: { path: { name: string }; query: { version?: string | null; label?: string | null }; body: undefined; answer: Environment };
  label_environment: { path: { name: string }; query: {}; body: EnvironmentLabels; answer: Environment };
  list_environment_runs: { path: { name: string }; query: { version?: string | null; limit?: number }; body: undefined; answer: BriefRunListing };
  follow_all: { path: {}; query: { after?: number | null; kinds?: string }; body: undefined; answer: Response };
  list_experiments: { path: {}; query: { view?: string }; body: undefined; answer: ExperimentCountedListing };
  delete_experiment: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  get_experiment: { path: { name: string }; query: {}; body: undefined; answer: ExperimentCounted };
  change_experiment: { path: { name: string }; query: {}; body: ExperimentChange; answer: Experiment };
  ensure_experiment: { path: { name: string }; query: {}; body: undefined; answer: Experiment };
  collect_garbage: { path: {}; query: {}; body: Wish; answer: Anything };
  hello: { path: {}; query: {}; body: undefined; answer: Hello };
  get_home: { path: {}; query: { limit?: number }; body: undefined; answer: Home };
  get_keeper: { path: {}; query: {}; body: undefined; answer: Keeper };
  stop_keeper: { path: {}; query: {}; body: undefined; answer: Empty };
  list_secrets: { path: {}; query: {}; body: undefined; answer: SecretNames };
  delete_secret: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  get_secret: { path: { name: string }; query: {}; body: undefined; answer: SecretValue };
  set_secret: { path: { name: string }; query: {}; body: SecretValue; answer: Empty };
  get_me: { path: {}; query: {}; body: undefined; answer: Me };
  change_my_password: { path: {}; query: {}; body: PasswordChange; answer: User };
  list_model_names: { path: {}; query: {}; body: undefined; answer: ModelNameListing };
  set_model_alias: { path: { name: string; alias: string }; query: {}; body: AliasGiven; answer: Aliases };
  package_model: { path: {}; query: {}; body: PackageNew; answer: Response };
  list_model_profiles: { path: {}; query: {}; body: undefined; answer: ModelProfileListing };
  profile_model: { path: {}; query: {}; body: ProfileNew; answer: ModelProfile };
  get_model_profile: { path: { name: string }; query: {}; body: undefined; answer: ModelProfile };
  list_models: { path: {}; query: { name?: string | null; tag?: string[]; property?: string[]; run_id?: string | null; framework?: string | null; latest?: boolean }; body: undefined; answer: ModelListing };
  register_model: { path: {}; query: {}; body: ModelNew; answer: Model };
  get_model: { path: { name: string }; query: { version?: number | null }; body: undefined; answer: Model };
  delete_model: { path: { name: string; version: number }; query: {}; body: undefined; answer: Empty };
  change_model: { path: { name: string; version: number }; query: {}; body: ModelChange; answer: Model };
  get_model_file: { path: { name: string; version: number; path: string }; query: {}; body: undefined; answer: Response };
  get_lineage: { path: { name: string; version: number }; query: {}; body: undefined; answer: Lineage };
  get_model_picture: { path: { name: string; version: number; path: string }; query: {}; body: undefined; answer: Response };
  preview_model_file: { path: { name: string; version: number; path: string }; query: { rows?: number }; body: undefined; answer: Preview };
  list_modules: { path: {}; query: { versions?: boolean }; body: undefined; answer: ModuleCardPage };
  add_module: { path: {}; query: {}; body: ModuleNew; answer: ModuleCard };
  delete_module: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  change_module: { path: { name: string }; query: {}; body: ModuleChange; answer: ModuleVersions };
  create_module: { path: { name: string }; query: {}; body: ModuleName; answer: ModuleVersions };
  list_module_versions: { path: { name: string }; query: {}; body: undefined; answer: ModuleVersions };
  add_past_experiment: { path: {}; query: {}; body: PastExperiment; answer: Anything };
  add_past_logged_model: { path: {}; query: {}; body: PastLoggedModel; answer: Anything };
  add_past_model: { path: {}; query: {}; body: PastModel; answer: Anything };
  add_past_run: { path: {}; query: {}; body: PastRun; answer: Anything };
  add_past_values: { path: { run_id: string }; query: {}; body: PastValues; answer: Anything };
  pipeline_code: { path: {}; query: {}; body: GraphGiven; answer: Code };
  list_drafts: { path: {}; query: {}; body: undefined; answer: DraftListing };
  create_draft: { path: {}; query: {}; body: DraftNew; answer: Draft };
  delete_draft: { path: { draft_id: string }; query: {}; body: undefined; answer: Empty };
  get_draft: { path: { draft_id: string }; query: {}; body: undefined; answer: Draft };
  save_draft: { path: { draft_id: string }; query: {}; body: DraftSaved; answer: Draft };
  list_pipeline_endpoints: { path: {}; query: { active_only?: boolean }; body: undefined; answer: PipelineEndpointListing };
  create_pipeline_endpoint: { path: {}; query: {}; body: PipelineEndpointNew; answer: PipelineEndpoint };
  get_pipeline_endpoint: { path: { endpoint: string }; query: { by?: string }; body: undefined; answer: PipelineEndpoint };
  change_pipeline_endpoint: { path: { endpoint: string }; query: {}; body: PipelineEndpointChange; answer: PipelineEndpoint };
  pipeline_from_yaml: { path: {}; query: {}; body: YamlGiven; answer: GraphRead };
  inference_graph: { path: {}; query: {}; body: InferenceAsked; answer: Graph };
  deploy_inference: { path: {}; query: {}; body: InferenceDeployed; answer: Endpoint };
  list_published: { path: {}; query: { active_only?: boolean }; body: undefined; answer: PublishedPipelineListing };
  publish_pipeline: { path: {}; query: {}; body: PublishedNew; answer: PublishedPipeline };
  get_published: { path: { pipeline_id: string }; query: {}; body: undefined; answer: PublishedPipeline };
  change_published: { path: { pipeline_id: string }; query: {}; body: PublishedChange; answer: PublishedPipeline };
  submit_pipeline: { path: {}; query: {}; body: PipelineRunNew; answer: Run };
  get_pipeline_run: { path: { run_id: string }; query: {}; body: undefined; answer: PipelineRun };
  clone_pipeline_run: { path: { run_id: string }; query: {}; body: undefined; answer: Draft };
  retry_step: { path: { run_id: string; node: string }; query: {}; body: undefined; answer: PipelineRun };
  list_samples: { path: {}; query: {}; body: undefined; answer: PipelineSampleListing };
  list_schedules: { path: {}; query: { active_only?: boolean }; body: undefined; answer: ScheduleListing };
  create_schedule: { path: {}; query: {}; body: ScheduleNew; answer: Schedule };
  delete_schedule: { path: { schedule_id: string }; query: {}; body: undefined; answer: Empty };
  get_schedule: { path: { schedule_id: string }; query: {}; body: undefined; answer: Schedule };
  change_schedule: { path: { schedule_id: string }; query: {}; body: ScheduleChange; answer: Schedule };
  submit_endpoint: { path: { endpoint_id: string }; query: {}; body: PipelineSubmission; answer: SubmittedV1 };
  submit_endpoint_version: { path: { endpoint_id: string; version: string }; query: {}; body: PipelineSubmission; answer: SubmittedV1 };
  submit_endpoint_by_name: { path: {}; query: { name: string; pipelineVersion?: string | null }; body: PipelineSubmission; answer: SubmittedV1 };
  submit_published: { path: { pipeline_id: string }; query: {}; body: PipelineSubmission; answer: SubmittedV1 };
  validate_pipeline: { path: {}; query: {}; body: GraphGiven; answer: Problems };
  pipeline_to_yaml: { path: {}; query: {}; body: GraphGiven; answer: Yaml };
  list_runs: { path: {}; query: { limit?: number; cursor?: string | null; experiment?: string | null; parent?: string | null; status?: string[]; kind?: string | null; tag?: string[]; property?: string[]; compute?: string | null; include_children?: boolean }; body: undefined; answer: RunInListPage };
  create_run: { path: {}; query: {}; body: NewRun; answer: Run };
  get_run: { path: { run_id: string }; query: {}; body: undefined; answer: Run };
  change_run: { path: { run_id: string }; query: {}; body: RunChange; answer: Run };
  list_artifacts: { path: { run_id: string }; query: { prefix?: string }; body: undefined; answer: ArtifactListing };
  link_artifacts: { path: { run_id: string }; query: {}; body: ArtifactLinks | ArtifactLink; answer: Anything };
  get_artifact: { path: { run_id: string; name: string }; query: {}; body: undefined; answer: Response };
  put_artifact: { path: { run_id: string; name: string }; query: {}; body: Blob; answer: Artifact };
  cancel_run: { path: { run_id: string }; query: {}; body: undefined; answer: Run };
  list_children: { path: { run_id: string }; query: { recursive?: boolean; experiment?: string | null; parent?: string | null; status?: string[]; kind?: string | null; tag?: string[]; property?: string[]; compute?: string | null; include_children?: boolean }; body: undefined; answer: RunInListListing };
  get_run_data: { path: { run_id: string }; query: {}; body: undefined; answer: RunDataListing };
  diff_snapshots: { path: { run_id: string; other: string }; query: { context?: number; path?: string }; body: undefined; answer: SourceDiff };
  follow_run: { path: { run_id: string }; query: { after?: number | null; until?: string; kinds?: string }; body: undefined; answer: Response };
  get_items: { path: { run_id: string }; query: { name: string; start?: number; limit?: number }; body: undefined; answer: Items };
  index_log: { path: { run_id: string; name: string }; query: {}; body: undefined; answer: LogIndex };
  read_log_lines: { path: { run_id: string; name: string }; query: { start?: number; limit?: number }; body: undefined; answer: LogLines };
  search_log: { path: { run_id: string; name: string }; query: { text: string; case?: boolean; after?: number; limit?: number }; body: undefined; answer: LogMatches };
  list_logs: { path: { run_id: string }; query: {}; body: undefined; answer: LogListing };
  read_log: { path: { run_id: string; name: string }; query: { offset?: number; length?: number | null }; body: undefined; answer: Response };
  make_manifests: { path: { run_id: string }; query: {}; body: undefined; answer: Anything };
  get_metrics: { path: { run_id: string }; query: { name?: string | null }; body: undefined; answer: MetricListing };
  download_metrics: { path: { run_id: string }; query: { name?: string | null; by?: "rank" | null }; body: undefined; answer: Response };
  get_overview: { path: { run_id: string }; query: {}; body: undefined; answer: Overview };
  get_picture: { path: { run_id: string; name: string }; query: {}; body: undefined; answer: Response };
  preview_file: { path: { run_id: string; name: string }; query: { rows?: number }; body: undefined; answer: Preview };
  add_records: { path: { run_id: string }; query: {}; body: Records; answer: Empty };
  check_reproduce: { path: { run_id: string }; query: {}; body: undefined; answer: Reproducible };
  reproduce_run: { path: { run_id: string }; query: {}; body: ReproduceAsked; answer: Run };
  get_samples: { path: { run_id: string }; query: {}; body: undefined; answer: SampleListing };
  get_series: { path: { run_id: string }; query: { name?: string[]; points?: number; x?: "step" | "time" | "index"; from?: number | null; to?: number | null; by?: "rank" | null; rank?: number[] }; body: undefined; answer: SeriesListing };
  report_status: { path: { run_id: string }; query: {}; body: StatusReport; answer: Run };
  get_timeline: { path: { run_id: string }; query: { points?: number }; body: undefined; answer: Timeline };
  list_tree: { path: { run_id: string }; query: { path?: string; limit?: number }; body: undefined; answer: Tree };
  get_tuning: { path: { run_id: string }; query: {}; body: undefined; answer: Tuning };
  visit: { path: { run_id: string }; query: {}; body: undefined; answer: Anything };
  get_outputs_zip: { path: { run_id: string }; query: { path?: string }; body: undefined; answer: Response };
  list_names: { path: {}; query: { experiment?: string[]; text?: string; limit?: number }; body: undefined; answer: KnownNames };
  search_runs: { path: {}; query: {}; body: SearchAsked; answer: RunTablePage };
  compare_series: { path: {}; query: {}; body: SeriesAsked; answer: SeriesListing };
  list_values: { path: {}; query: { kind: string; key: string; text?: string; limit?: number }; body: undefined; answer: ValueCountListing };
  get_service_health: { path: { name: string }; query: {}; body: undefined; answer: Response };
  score_query: { path: { name: string }; query: {}; body: undefined; answer: Response };
  score_options: { path: { name: string }; query: {}; body: undefined; answer: Response };
  score_endpoint: { path: { name: string }; query: {}; body: Blob; answer: Response };
  describe_endpoint_api: { path: { name: string }; query: {}; body: undefined; answer: Response };
  close_session: { path: {}; query: {}; body: undefined; answer: Empty };
  open_session: { path: {}; query: {}; body: Login; answer: Session };
  make_entry_code: { path: {}; query: {}; body: undefined; answer: EntryCode };
  log_in_for_token: { path: {}; query: {}; body: LoginForToken; answer: SessionToken };
  create_snapshot: { path: {}; query: {}; body: NewSnapshot; answer: SnapshotMade };
  get_snapshot: { path: { snapshot_id: string }; query: {}; body: undefined; answer: Snapshot };
  has_snapshot: { path: { snapshot_id: string }; query: {}; body: undefined; answer: undefined };
  get_snapshot_picture: { path: { snapshot_id: string; path: string }; query: {}; body: undefined; answer: Response };
  preview_snapshot_file: { path: { snapshot_id: string; path: string }; query: { rows?: number }; body: undefined; answer: Preview };
  list_snapshot: { path: { snapshot_id: string }; query: { path?: string; limit?: number }; body: undefined; answer: Tree };
  get_snapshot_zip: { path: { snapshot_id: string }; query: {}; body: undefined; answer: Response };
  make_run_token: { path: {}; query: {}; body: TokenRequest; answer: RunToken };
  make_tracking_token: { path: {}; query: {}; body: undefined; answer: TrackingToken };
  list_user_tokens: { path: {}; query: { user?: string | null }; body: undefined; answer: UserTokenListing };
  make_user_token: { path: {}; query: {}; body: UserTokenNew; answer: UserTokenMade };
  revoke_user_token: { path: { token_id: string }; query: {}; body: undefined; answer: Empty };
  list_users: { path: {}; query: {}; body: undefined; answer: UserListing };
  add_user: { path: {}; query: {}; body: UserNew; answer: User };
  remove_user: { path: { name: string }; query: {}; body: undefined; answer: Empty };
  get_user: { path: { name: string }; query: {}; body: undefined; answer: User };
  change_user: { path: { name: string }; query: {}; body: UserChange; answer: User };
  list_webhooks: { path: {}; query: {}; body: undefined; answer: WebhookListing };
  add_webhook: { path: {}; query: {}; body: WebhookNew; answer: WebhookMade };
  remove_webhook: { path: { webhook_id: string }; query: {}; body: undefined; answer: Empty };
  get_webhook: { path: { webhook_id: string }; query: {}; body: undefined; answer: Webhook };
  list_deliveries: { path: { webhook_id: string }; query: { limit?: number }; body: undefined; answer: DeliveryListing };
  send_delivery_again: { path: { webhook_id: string; delivery: number }; query: {}; body: undefined; answer: Delivery };
  ping_webhook: { path: { webhook_id: string }; query: {}; body: undefined; answer: Delivery };
  add_wheel: { path: {}; query: {}; body: WheelNew; answer: Wheel };
  get_workspace: { path: {}; query: {}; body: undefined; answer: Workspace };
  change_workspace: { path: {}; query: {}; body: WorkspaceChange; answer: Workspace };
}

export const PATHS: Record<keyof Operations, readonly [method: string, path: string]> = {
  act_on_runs: ["POST", "/api/v1/actions/runs"],
  list_audit: ["GET", "/api/v1/audit"],
  list_built_environments: ["GET", "/api/v1/built-environments"],
  prune_built_environments: ["POST", "/api/v1/built-environments/prune"],
  get_built_environment: ["GET", "/api/v1/built-environments/{key}"],
  compare_runs: ["POST", "/api/v1/compare"],
  list_compute: ["GET", "/api/v1/compute"],
  create_compute: ["POST", "/api/v1/compute"],
  delete_compute: ["DELETE", "/api/v1/compute/{name}"],
  get_compute: ["GET", "/api/v1/compute/{name}"],
  change_compute: ["PATCH", "/api/v1/compute/{name}"],
  check_compute: ["POST", "/api/v1/compute/{name}/check"],
  list_nodes: ["GET", "/api/v1/compute/{name}/nodes"],
  preempt_node: ["POST", "/api/v1/compute/{name}/preempt"],
  get_queue: ["GET", "/api/v1/compute/{name}/queue"],
  find_missing_content: ["POST", "/api/v1/content/missing"],
  put_content_pack: ["POST", "/api/v1/content/pack"],
  get_content: ["GET", "/api/v1/content/{sha256}"],
  continue_upload: ["PATCH", "/api/v1/content/{sha256}"],
  put_content: ["PUT", "/api/v1/content/{sha256}"],
  get_upload: ["GET", "/api/v1/content/{sha256}/upload"],
  save_definition: ["POST", "/api/v1/data/definitions"],
  get_definition: ["GET", "/api/v1/data/definitions/{definition_id}"],
  resolve_definition: ["POST", "/api/v1/data/definitions/{definition_id}/resolve"],
  get_manifest: ["GET", "/api/v1/data/manifests/{manifest_id}"],
  get_manifest_bytes: ["GET", "/api/v1/data/manifests/{manifest_id}/bytes"],
  get_manifest_file: ["GET", "/api/v1/data/manifests/{manifest_id}/files/{index}"],
  list_manifest_folder: ["GET", "/api/v1/data/manifests/{manifest_id}/folder"],
  get_manifest_picture: ["GET", "/api/v1/data/manifests/{manifest_id}/picture/{path}"],
  preview_manifest_file: ["GET", "/api/v1/data/manifests/{manifest_id}/preview/{path}"],
  list_datasets: ["GET", "/api/v1/datasets"],
  register_dataset: ["POST", "/api/v1/datasets"],
  delete_dataset: ["DELETE", "/api/v1/datasets/{name}"],
  get_dataset: ["GET", "/api/v1/datasets/{name}"],
  upload_dataset: ["POST", "/api/v1/datasets/{name}/uploads"],
  list_dataset_versions: ["GET", "/api/v1/datasets/{name}/versions"],
  change_dataset: ["PATCH", "/api/v1/datasets/{name}/{version}"],
  get_dataset_file: ["GET", "/api/v1/datasets/{name}/{version}/files/{path}"],
  list_dataset_folder: ["GET", "/api/v1/datasets/{name}/{version}/folder"],
  list_dataset_runs: ["GET", "/api/v1/datasets/{name}/{version}/runs"],
  preview_dataset_table: ["GET", "/api/v1/datasets/{name}/{version}/table"],
  list_datastores: ["GET", "/api/v1/datastores"],
  register_datastore: ["POST", "/api/v1/datastores"],
  delete_datastore: ["DELETE", "/api/v1/datastores/{name}"],
  get_datastore: ["GET", "/api/v1/datastores/{name}"],
  set_default_datastore: ["POST", "/api/v1/datastores/{name}/default"],
  list_store_files: ["GET", "/api/v1/datastores/{name}/files"],
  get_store_file: ["GET", "/api/v1/datastores/{name}/files/{path}"],
  put_store_pack: ["POST", "/api/v1/datastores/{name}/pack"],
  list_endpoints: ["GET", "/api/v1/endpoints"],
  create_endpoint: ["POST", "/api/v1/endpoints"],
  delete_endpoint: ["DELETE", "/api/v1/endpoints/{name}"],
  get_endpoint: ["GET", "/api/v1/endpoints/{name}"],
  change_endpoint: ["PATCH", "/api/v1/endpoints/{name}"],
  get_endpoint_keys: ["GET", "/api/v1/endpoints/{name}/keys"],
  make_endpoint_key: ["POST", "/api/v1/endpoints/{name}/keys"],
  get_endpoint_latency: ["GET", "/api/v1/endpoints/{name}/latency"],
  read_endpoint_log: ["GET", "/api/v1/endpoints/{name}/log"],
  read_endpoint_logs: ["GET", "/api/v1/endpoints/{name}/logs"],
  reload_endpoint: ["POST", "/api/v1/endpoints/{name}/reload"],
  make_endpoint_token: ["POST", "/api/v1/endpoints/{name}/token"],
  delete_endpoint_version: ["DELETE", "/api/v1/endpoints/{name}/versions/{version}"],
  put_endpoint_version: ["PUT", "/api/v1/endpoints/{name}/versions/{version}"],
  list_environments: ["GET", "/api/v1/environments"],
  register_environment: ["POST", "/api/v1/environments"],
  start_build: ["POST", "/api/v1/environments/builds"],
  get_build: ["GET", "/api/v1/environments/builds/{build_id}"],
  follow_build: ["GET", "/api/v1/environments/builds/{build_id}/events"],
  read_build_log: ["GET", "/api/v1/environments/builds/{build_id}/log"],
  find_prepared: ["POST", "/api/v1/environments/prepared"],
  read_specification: ["POST", "/api/v1/environments/specifications"],
  get_environment: ["GET", "/api/v1/environments/{name}"],
  label_environment: ["POST", "/api/v1/environments/{name}/labels"],
  list_environment_runs: ["GET", "/api/v1/environments/{name}/runs"],
  follow_all: ["GET", "/api/v1/events"],
  list_experiments: ["GET", "/api/v1/experiments"],
  delete_experiment: ["DELETE", "/api/v1/experiments/{name}"],
  get_experiment: ["GET", "/api/v1/experiments/{name}"],
  change_experiment: ["PATCH", "/api/v1/experiments/{name}"],
  ensure_experiment: ["PUT", "/api/v1/experiments/{name}"],
  collect_garbage: ["POST", "/api/v1/gc"],
  hello: ["GET", "/api/v1/hello"],
  get_home: ["GET", "/api/v1/home"],
  get_keeper: ["GET", "/api/v1/keeper"],
  stop_keeper: ["POST", "/api/v1/keeper/stop"],
  list_secrets: ["GET", "/api/v1/keyvault"],
  delete_secret: ["DELETE", "/api/v1/keyvault/{name}"],
  get_secret: ["GET", "/api/v1/keyvault/{name}"],
  set_secret: ["PUT", "/api/v1/keyvault/{name}"],
  get_me: ["GET", "/api/v1/me"],
  change_my_password: ["PUT", "/api/v1/me/password"],
  list_model_names: ["GET", "/api/v1/model-names"],
  set_model_alias: ["PUT", "/api/v1/model-names/{name}/aliases/{alias}"],
  package_model: ["POST", "/api/v1/model-packages"],
  list_model_profiles: ["GET", "/api/v1/model-profiles"],
  profile_model: ["POST", "/api/v1/model-profiles"],
  get_model_profile: ["GET", "/api/v1/model-profiles/{name}"],
  list_models: ["GET", "/api/v1/models"],
  register_model: ["POST", "/api/v1/models"],
  get_model: ["GET", "/api/v1/models/{name}"],
  delete_model: ["DELETE", "/api/v1/models/{name}/{version}"],
  change_model: ["PATCH", "/api/v1/models/{name}/{version}"],
  get_model_file: ["GET", "/api/v1/models/{name}/{version}/files/{path}"],
  get_lineage: ["GET", "/api/v1/models/{name}/{version}/lineage"],
  get_model_picture: ["GET", "/api/v1/models/{name}/{version}/picture/{path}"],
  preview_model_file: ["GET", "/api/v1/models/{name}/{version}/preview/{path}"],
  list_modules: ["GET", "/api/v1/modules"],
  add_module: ["POST", "/api/v1/modules"],
  delete_module: ["DELETE", "/api/v1/modules/{name}"],
  change_module: ["PATCH", "/api/v1/modules/{name}"],
  create_module: ["PUT", "/api/v1/modules/{name}"],
  list_module_versions: ["GET", "/api/v1/modules/{name}/versions"],
  add_past_experiment: ["POST", "/api/v1/past/experiments"],
  add_past_logged_model: ["POST", "/api/v1/past/logged-models"],
  add_past_model: ["POST", "/api/v1/past/models"],
  add_past_run: ["POST", "/api/v1/past/runs"],
  add_past_values: ["POST", "/api/v1/past/runs/{run_id}/values"],
  pipeline_code: ["POST", "/api/v1/pipelines/code"],
  list_drafts: ["GET", "/api/v1/pipelines/drafts"],
  create_draft: ["POST", "/api/v1/pipelines/drafts"],
  delete_draft: ["DELETE", "/api/v1/pipelines/drafts/{draft_id}"],
  get_draft: ["GET", "/api/v1/pipelines/drafts/{draft_id}"],
  save_draft: ["PUT", "/api/v1/pipelines/drafts/{draft_id}"],
  list_pipeline_endpoints: ["GET", "/api/v1/pipelines/endpoints"],
  create_pipeline_endpoint: ["POST", "/api/v1/pipelines/endpoints"],
  get_pipeline_endpoint: ["GET", "/api/v1/pipelines/endpoints/{endpoint}"],
  change_pipeline_endpoint: ["PATCH", "/api/v1/pipelines/endpoints/{endpoint}"],
  pipeline_from_yaml: ["POST", "/api/v1/pipelines/graph"],
  inference_graph: ["POST", "/api/v1/pipelines/inference"],
  deploy_inference: ["POST", "/api/v1/pipelines/inference/deploy"],
  list_published: ["GET", "/api/v1/pipelines/published"],
  publish_pipeline: ["POST", "/api/v1/pipelines/published"],
  get_published: ["GET", "/api/v1/pipelines/published/{pipeline_id}"],
  change_published: ["PATCH", "/api/v1/pipelines/published/{pipeline_id}"],
  submit_pipeline: ["POST", "/api/v1/pipelines/runs"],
  get_pipeline_run: ["GET", "/api/v1/pipelines/runs/{run_id}"],
  clone_pipeline_run: ["POST", "/api/v1/pipelines/runs/{run_id}/clone"],
  retry_step: ["POST", "/api/v1/pipelines/runs/{run_id}/steps/{node}/retry"],
  list_samples: ["GET", "/api/v1/pipelines/samples"],
  list_schedules: ["GET", "/api/v1/pipelines/schedules"],
  create_schedule: ["POST", "/api/v1/pipelines/schedules"],
  delete_schedule: ["DELETE", "/api/v1/pipelines/schedules/{schedule_id}"],
  get_schedule: ["GET", "/api/v1/pipelines/schedules/{schedule_id}"],
  change_schedule: ["PATCH", "/api/v1/pipelines/schedules/{schedule_id}"],
  submit_endpoint: ["POST", "/api/v1/pipelines/v1.0/PipelineEndpoints/Id/{endpoint_id}"],
  submit_endpoint_version: ["POST", "/api/v1/pipelines/v1.0/PipelineEndpoints/Id/{endpoint_id}/{version}"],
  submit_endpoint_by_name: ["POST", "/api/v1/pipelines/v1.0/PipelineEndpoints/Name"],
  submit_published: ["POST", "/api/v1/pipelines/v1.0/PipelineRuns/PipelineSubmit/{pipeline_id}"],
  validate_pipeline: ["POST", "/api/v1/pipelines/validate"],
  pipeline_to_yaml: ["POST", "/api/v1/pipelines/yaml"],
  list_runs: ["GET", "/api/v1/runs"],
  create_run: ["POST", "/api/v1/runs"],
  get_run: ["GET", "/api/v1/runs/{run_id}"],
  change_run: ["PATCH", "/api/v1/runs/{run_id}"],
  list_artifacts: ["GET", "/api/v1/runs/{run_id}/artifacts"],
  link_artifacts: ["POST", "/api/v1/runs/{run_id}/artifacts"],
  get_artifact: ["GET", "/api/v1/runs/{run_id}/artifacts/{name}"],
  put_artifact: ["PUT", "/api/v1/runs/{run_id}/artifacts/{name}"],
  cancel_run: ["POST", "/api/v1/runs/{run_id}/cancel"],
  list_children: ["GET", "/api/v1/runs/{run_id}/children"],
  get_run_data: ["GET", "/api/v1/runs/{run_id}/data"],
  diff_snapshots: ["GET", "/api/v1/runs/{run_id}/diff/{other}"],
  follow_run: ["GET", "/api/v1/runs/{run_id}/events"],
  get_items: ["GET", "/api/v1/runs/{run_id}/items"],
  index_log: ["GET", "/api/v1/runs/{run_id}/log-index/{name}"],
  read_log_lines: ["GET", "/api/v1/runs/{run_id}/log-lines/{name}"],
  search_log: ["GET", "/api/v1/runs/{run_id}/log-search/{name}"],
  list_logs: ["GET", "/api/v1/runs/{run_id}/logs"],
  read_log: ["GET", "/api/v1/runs/{run_id}/logs/{name}"],
  make_manifests: ["POST", "/api/v1/runs/{run_id}/manifests"],
  get_metrics: ["GET", "/api/v1/runs/{run_id}/metrics"],
  download_metrics: ["GET", "/api/v1/runs/{run_id}/metrics.csv"],
  get_overview: ["GET", "/api/v1/runs/{run_id}/overview"],
  get_picture: ["GET", "/api/v1/runs/{run_id}/picture/{name}"],
  preview_file: ["GET", "/api/v1/runs/{run_id}/preview/{name}"],
  add_records: ["POST", "/api/v1/runs/{run_id}/records"],
  check_reproduce: ["GET", "/api/v1/runs/{run_id}/reproduce"],
  reproduce_run: ["POST", "/api/v1/runs/{run_id}/reproduce"],
  get_samples: ["GET", "/api/v1/runs/{run_id}/samples"],
  get_series: ["GET", "/api/v1/runs/{run_id}/series"],
  report_status: ["POST", "/api/v1/runs/{run_id}/status"],
  get_timeline: ["GET", "/api/v1/runs/{run_id}/timeline"],
  list_tree: ["GET", "/api/v1/runs/{run_id}/tree"],
  get_tuning: ["GET", "/api/v1/runs/{run_id}/tune"],
  visit: ["POST", "/api/v1/runs/{run_id}/visit"],
  get_outputs_zip: ["GET", "/api/v1/runs/{run_id}/zip"],
  list_names: ["GET", "/api/v1/search/names"],
  search_runs: ["POST", "/api/v1/search/runs"],
  compare_series: ["POST", "/api/v1/search/series"],
  list_values: ["GET", "/api/v1/search/values"],
  get_service_health: ["GET", "/api/v1/service/{name}"],
  score_query: ["GET", "/api/v1/service/{name}/score"],
  score_options: ["OPTIONS", "/api/v1/service/{name}/score"],
  score_endpoint: ["POST", "/api/v1/service/{name}/score"],
  describe_endpoint_api: ["GET", "/api/v1/service/{name}/swagger.json"],
  close_session: ["DELETE", "/api/v1/session"],
  open_session: ["POST", "/api/v1/session"],
  make_entry_code: ["POST", "/api/v1/session/code"],
  log_in_for_token: ["POST", "/api/v1/session/token"],
  create_snapshot: ["POST", "/api/v1/snapshots"],
  get_snapshot: ["GET", "/api/v1/snapshots/{snapshot_id}"],
  has_snapshot: ["HEAD", "/api/v1/snapshots/{snapshot_id}"],
  get_snapshot_picture: ["GET", "/api/v1/snapshots/{snapshot_id}/picture/{path}"],
  preview_snapshot_file: ["GET", "/api/v1/snapshots/{snapshot_id}/preview/{path}"],
  list_snapshot: ["GET", "/api/v1/snapshots/{snapshot_id}/tree"],
  get_snapshot_zip: ["GET", "/api/v1/snapshots/{snapshot_id}/zip"],
  make_run_token: ["POST", "/api/v1/tokens"],
  make_tracking_token: ["POST", "/api/v1/tokens/tracking"],
  list_user_tokens: ["GET", "/api/v1/user-tokens"],
  make_user_token: ["POST", "/api/v1/user-tokens"],
  revoke_user_token: ["DELETE", "/api/v1/user-tokens/{token_id}"],
  list_users: ["GET", "/api/v1/users"],
  add_user: ["POST", "/api/v1/users"],
  remove_user: ["DELETE", "/api/v1/users/{name}"],
  get_user: ["GET", "/api/v1/users/{name}"],
  change_user: ["PATCH", "/api/v1/users/{name}"],
  list_webhooks: ["GET", "/api/v1/webhooks"],
  add_webhook: ["POST", "/api/v1/webhooks"],
  remove_webhook: ["DELETE", "/api/v1/webhooks/{webhook_id}"],
  get_webhook: ["GET", "/api/v1/webhooks/{webhook_id}"],
  list_deliveries: ["GET", "/api/v1/webhooks/{webhook_id}/deliveries"],
  send_delivery_again: ["POST", "/api/v1/webhooks/{webhook_id}/deliveries/{delivery}/again"],
  ping_webhook: ["POST", "/api/v1/webhooks/{webhook_id}/ping"],
  add_wheel: ["POST", "/api/v1/wheels"],
  get_workspace: ["GET", "/api/v1/workspace"],
  change_workspace: ["PATCH", "/api/v1/workspace"],
};
