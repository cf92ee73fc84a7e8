// AWS::KinesisFirehose::DeliveryStream, AWS::Logs::SubscriptionFilter, AWS::S3::Bucket
import type { BucketLifecycleConfiguration, PublicAccessBlockConfiguration } from "@aws-sdk/client-s3";
import { AwsError } from "../../protocol/error.ts";
import type { OperationContext } from "../../world.ts";
import {
  badRequest,
  ignoreNotFound,
  type Properties,
  parseProperties,
  type ResourceContext,
  type ResourceType,
  tagsOf,
} from "./type.ts";

const streamsOf = ({ world, region }: ResourceContext) => world.service("logs", region).streams;

/** Throws unless a role is there that the service may assume: by its name, or by that with the region in it. */
function requireRole({ world, region }: ResourceContext, arn: unknown, service: string): void {
  const { trust = "" } = world.service("iam").roles.get(String(arn).split("/").pop()!) ?? {};
  const [name, ...domain] = service.split(".");
  if (!trust.includes(service) && !trust.includes([name, region, ...domain].join("."))) {
    throw new AwsError(
      "InvalidArgumentException",
      `${service} is unable to assume role ${arn}. Please check the role provided.`,
    );
  }
}

interface EndpointDestination {
  readonly EndpointConfiguration?: { readonly Url?: string; readonly AccessKey?: string };
  readonly RequestConfiguration?: {
    readonly ContentEncoding?: string;
    readonly CommonAttributes?: readonly { readonly AttributeName: string; readonly AttributeValue: string }[];
  };
  readonly BufferingHints?: { readonly IntervalInSeconds?: unknown; readonly SizeInMBs?: unknown };
  readonly RetryOptions?: { readonly DurationInSeconds?: unknown };
  readonly RoleARN?: string;
  readonly S3Configuration?: { readonly BucketARN?: string; readonly RoleARN?: string };
}

/** One with an HTTP endpoint; others have no other side here. */
function putStream(context: ResourceContext, name: string, properties: Properties): void {
  const own = properties.HttpEndpointDestinationConfiguration as EndpointDestination | undefined;
  if (own === undefined) throw badRequest("Exactly one destination configuration is required");
  const { EndpointConfiguration, RequestConfiguration, S3Configuration } = own;
  requireRole(context, own.RoleARN, "firehose.amazonaws.com");
  requireRole(context, S3Configuration?.RoleARN, "firehose.amazonaws.com");
  streamsOf(context).putStream({
    name,
    arn: arnOfStream(context, name),
    app: tagsOf(properties.Tags)["tool:app"],
    destination: {
      url: EndpointConfiguration?.Url ?? "",
      accessKey: EndpointConfiguration?.AccessKey ?? "",
      attributes: Object.fromEntries(
        (RequestConfiguration?.CommonAttributes ?? []).map((one) => [one.AttributeName, one.AttributeValue]),
      ),
      isCompressed: RequestConfiguration?.ContentEncoding === "GZIP",
      bufferSeconds: Number(own.BufferingHints?.IntervalInSeconds ?? 300),
      bufferBytes: Number(own.BufferingHints?.SizeInMBs ?? 5) * 1024 * 1024,
      retrySeconds: Number(own.RetryOptions?.DurationInSeconds ?? 300),
      bucket: (S3Configuration?.BucketARN ?? "").split(":").pop()!,
    },
  });
}

const arnOfStream = ({ world, region }: ResourceContext, name: string) =>
  `arn:aws:firehose:${region}:${world.accountId}:deliverystream/${name}`;

export const deliveryStream: ResourceType = {
  properties:
    parseProperties(`AmazonOpenSearchServerlessDestinationConfiguration{} AmazonopensearchserviceDestinationConfiguration{}
    DatabaseSourceConfiguration!{} DeliveryStreamEncryptionConfigurationInput{} DeliveryStreamName! DeliveryStreamType!
    DirectPutSourceConfiguration!{} ElasticsearchDestinationConfiguration{} ExtendedS3DestinationConfiguration{}
    HttpEndpointDestinationConfiguration{} IcebergDestinationConfiguration{} KinesisStreamSourceConfiguration!{}
    MSKSourceConfiguration!{} RedshiftDestinationConfiguration{} S3DestinationConfiguration{} SnowflakeDestinationConfiguration{}
    SplunkDestinationConfiguration{} Tags[]`),
  durationMs: 60_000,
  attributes: ["Arn"],
  create(context, properties) {
    const name = String(properties.DeliveryStreamName ?? context.uniqueName(64));
    if (streamsOf(context).streams.has(name)) {
      const at = `${name} under accountId ${context.world.accountId}`;
      throw new AwsError("ResourceInUseException", `Firehose ${at} already exists`, 409);
    }
    putStream(context, name, properties);
    return name;
  },
  update: (context, id, properties) => putStream(context, id, properties),
  delete: (context, id) => streamsOf(context).removeStream(id),
  attribute: (context, id) => arnOfStream(context, id),
};

function putSubscription(context: ResourceContext, name: string, properties: Properties): void {
  const { world, region } = context;
  const group = String(properties.LogGroupName);
  if (!world.service("logs", region).groups.has(group)) {
    throw new AwsError("ResourceNotFoundException", "The specified log group does not exist.", 404);
  }
  requireRole(context, properties.RoleArn, "logs.amazonaws.com");
  streamsOf(context).putSubscription({
    group,
    name,
    pattern: String(properties.FilterPattern),
    streamArn: String(properties.DestinationArn),
  });
}

export const subscriptionFilter: ResourceType = {
  properties:
    parseProperties(`ApplyOnTransformedLogs& DestinationArn* Distribution EmitSystemFields[] FieldSelectionCriteria
    FilterName! FilterPattern* LogGroupName*! RoleArn`),
  durationMs: 3_000,
  attributes: [],
  create(context, properties) {
    const name = String(properties.FilterName ?? context.uniqueName(512));
    putSubscription(context, name, properties);
    return name;
  },
  update: (context, id, properties) => putSubscription(context, id, properties),
  delete: (context, id, properties) => streamsOf(context).removeSubscription(String(properties.LogGroupName), id),
  attribute: (_context, id) => id,
};

const s3Of = ({ world }: ResourceContext) => world.service("s3").operations;

function configureBucket(context: ResourceContext, Bucket: string, properties: Properties): void {
  const operations = s3Of(context);
  const { Rules = [] } = (properties.LifecycleConfiguration ?? {}) as { Rules?: Record<string, unknown>[] };
  const rules = Rules.map(({ ExpirationInDays: Days, Id: ID, ...rest }) => ({ ID, ...rest, Expiration: { Days } }));
  const LifecycleConfiguration = { Rules: rules } as unknown as BucketLifecycleConfiguration;
  operations.PutBucketLifecycleConfiguration({ Bucket, LifecycleConfiguration });
  const access = properties.PublicAccessBlockConfiguration as PublicAccessBlockConfiguration | undefined;
  operations.PutPublicAccessBlock({ Bucket, PublicAccessBlockConfiguration: access });
  const TagSet = Object.entries(tagsOf(properties.Tags)).map(([Key, Value]) => ({ Key, Value }));
  operations.PutBucketTagging({ Bucket, Tagging: { TagSet } });
}

export const bucket: ResourceType = {
  properties:
    parseProperties(`AbacStatus AccelerateConfiguration{} AccessControl AnalyticsConfigurations[] BucketEncryption{}
    BucketName! BucketNamePrefix! BucketNamespace! CorsConfiguration{} IntelligentTieringConfigurations[] InventoryConfigurations[] LifecycleConfiguration{}
    LoggingConfiguration{} MetadataConfiguration{} MetadataTableConfiguration{} MetricsConfigurations[]
    NotificationConfiguration{} ObjectLockConfiguration{} ObjectLockEnabled& OwnershipControls{}
    PublicAccessBlockConfiguration{} ReplicationConfiguration{} Tags[] VersioningConfiguration{} WebsiteConfiguration{}`),
  durationMs: 20_000,
  attributes: ["Arn", "DomainName", "DualStackDomainName", "RegionalDomainName", "WebsiteURL"],
  create(context, properties) {
    const name = String(properties.BucketName ?? context.uniqueName(63).toLowerCase());
    const { region } = context;
    const place = region === "us-east-1" ? {} : { LocationConstraint: region as "eu-west-1" };
    const call: OperationContext = { region, service: "s3", operation: "CreateBucket", accessKeyId: "" };
    s3Of(context).CreateBucket({ Bucket: name, CreateBucketConfiguration: place }, call);
    configureBucket(context, name, properties);
    return name;
  },
  update: (context, id, properties) => configureBucket(context, id, properties),
  delete: (context, id) =>
    ignoreNotFound(() => {
      s3Of(context).DeleteBucket({ Bucket: id });
    }),
  attribute: ({ region }, id, name) => {
    if (name === "Arn") return `arn:aws:s3:::${id}`;
    if (name === "DomainName") return `${id}.s3.amazonaws.com`;
    if (name === "DualStackDomainName") return `${id}.s3.dualstack.${region}.amazonaws.com`;
    if (name === "WebsiteURL") return `http://${id}.s3-website-${region}.amazonaws.com`;
    return `${id}.s3.${region}.amazonaws.com`;
  },
};
